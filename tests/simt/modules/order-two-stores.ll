; Two threads store to an element by atomics, and one alone tells of it: the
; other one may still be on its way.
;> kernel f(A: i32[32]) -> C: i32[1] level flat {
;>     launch f grid(1, 1, 1) block(96, 1, 1) {
;>         let t: idx64 = idx64(thread.x)
;>         if t == 0 { C[0] = A[0] }
;>     }
;> }
;! race-block
@S = internal addrspace(3) global [1 x i32] undef, align 16
@F = internal addrspace(3) global [1 x i32] undef, align 16

define ptx_kernel void @f(ptr addrspace(1) noalias %A, ptr addrspace(1) noalias %C) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = icmp eq i32 %t, 0
  br i1 %first, label %make, label %made
make:
  store i32 0, ptr addrspace(3) @F, align 4
  br label %made
made:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %a = load i32, ptr addrspace(1) %A, align 4
  switch i32 %t, label %end [ i32 0, label %one
                              i32 32, label %two
                              i32 64, label %wait ]
one:
  store atomic i32 %a, ptr addrspace(3) @S syncscope("block") monotonic, align 4
  ; fixed:  %o1 = atomicrmw add ptr addrspace(3) @F, i32 1 syncscope("block") release, align 4
  br label %end
two:
  store atomic i32 %a, ptr addrspace(3) @S syncscope("block") monotonic, align 4
  %o2 = atomicrmw add ptr addrspace(3) @F, i32 2 syncscope("block") release, align 4 ; fixed:  %o2 = atomicrmw add ptr addrspace(3) @F, i32 1 syncscope("block") release, align 4
  br label %end
wait:
  %seen = load atomic i32, ptr addrspace(3) @F syncscope("block") acquire, align 4
  %done = icmp eq i32 %seen, 2
  br i1 %done, label %read, label %wait
read:
  %x = load i32, ptr addrspace(3) @S, align 4
  store i32 %x, ptr addrspace(1) %C, align 4
  br label %end
end:
  ret void
}
