; Two lanes add up four elements each thread; one of them begins with nothing.
;> kernel f(A: i32[256]) -> C: i32[64] level flat {
;>     launch f grid(1, 1, 1) block(64, 1, 1) {
;>         let t: idx64 = idx64(thread.x)
;>         C[t] = A[t * 4] + A[t * 4 + 1] + (A[t * 4 + 2] + A[t * 4 + 3])
;>     }
;> }
;! wrong-results
define ptx_kernel void @f(ptr addrspace(1) noalias %A, ptr addrspace(1) noalias %C) {
start:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = shl i32 %t, 2
  br label %next
next:
  %i = phi i32 [ 0, %start ], [ %j, %next ]
  %sum = phi <2 x i32> [ <i32 0, i32 undef>, %start ], [ %more, %next ] ; fixed: %sum = phi <2 x i32> [ zeroinitializer, %start ], [ %more, %next ]
  %k = add i32 %first, %i
  %p = getelementptr i32, ptr addrspace(1) %A, i32 %k
  %v = load <2 x i32>, ptr addrspace(1) %p, align 8
  %more = add <2 x i32> %sum, %v
  %j = add i32 %i, 2
  %again = icmp ult i32 %j, 4
  br i1 %again, label %next, label %all
all:
  %even = extractelement <2 x i32> %more, i32 0
  %odd = extractelement <2 x i32> %more, i32 1
  %both = add i32 %even, %odd
  %to = getelementptr i32, ptr addrspace(1) %C, i32 %t
  store i32 %both, ptr addrspace(1) %to, align 4
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
