; A volatile load of a flag orders nothing, but for a fence behind it.
;> kernel f(A: i32[32]) -> C: i32[32] level flat {
;>     launch f grid(1, 1, 1) block(64, 1, 1) {
;>         let t: idx64 = idx64(thread.x)
;>         if t < 32 { C[t] = A[31 - t] }
;>     }
;> }
;! race-block
@S = internal addrspace(3) global [32 x i32] undef, align 16
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
  %low = icmp ult i32 %t, 32
  br i1 %low, label %write, label %wait
write:
  %from = getelementptr i32, ptr addrspace(1) %A, i32 %t
  %to = getelementptr i32, ptr addrspace(3) @S, i32 %t
  %a = load i32, ptr addrspace(1) %from, align 4
  store i32 %a, ptr addrspace(3) %to, align 4
  %o = atomicrmw add ptr addrspace(3) @F, i32 1 syncscope("block") release, align 4
  br label %end
wait:
  %seen = load volatile i32, ptr addrspace(3) @F, align 4
  %done = icmp eq i32 %seen, 32
  br i1 %done, label %read, label %wait
read:
  ; fixed:  fence syncscope("block") acquire
  %r = sub i32 63, %t
  %at = getelementptr i32, ptr addrspace(3) @S, i32 %r
  %x = load i32, ptr addrspace(3) %at, align 4
  %c = sub i32 %t, 32
  %out = getelementptr i32, ptr addrspace(1) %C, i32 %c
  store i32 %x, ptr addrspace(1) %out, align 4
  br label %end
end:
  ret void
}
