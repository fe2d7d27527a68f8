; 16 bytes to an address that 8 divides.
;> kernel f(A: i32[16]) -> C: i32[4] level flat {
;>     launch f grid(1, 1, 1) block(1, 1, 1) {
;>         for j: idx64 in 0..4 { C[j] = A[j] }
;>     }
;> }
;! misaligned uninitialised
@S = internal addrspace(3) global [16 x i32] undef, align 16

define ptx_kernel void @f(ptr addrspace(1) noalias %A, ptr addrspace(1) noalias %C) {
  %to = getelementptr i32, ptr addrspace(3) @S, i32 2 ; fixed: %to = getelementptr i32, ptr addrspace(3) @S, i32 4
  call void @llvm.nvvm.cp.async.ca.shared.global.16(ptr addrspace(3) %to, ptr addrspace(1) %A)
  call void @llvm.nvvm.cp.async.wait.all()
  %at = getelementptr i32, ptr addrspace(3) @S, i32 4
  %x = load <4 x i32>, ptr addrspace(3) %at, align 16
  store <4 x i32> %x, ptr addrspace(1) %C, align 16
  ret void
}
