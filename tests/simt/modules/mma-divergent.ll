; Half of a warp takes part in a product.
;> kernel f(A: f16[256], B: f16[128]) -> D: f32[128] level flat {
;>     launch f grid(1, 1, 1) block(32, 1, 1) {
;>         let t: idx64 = idx64(thread.x)
;>         for e: idx64 in 0..4 {
;>             let row: idx64 = t / 4 + e / 2 * 8
;>             let column: idx64 = t % 4 * 2 + e % 2
;>             var s: f32 = 0
;>             for k: idx64 in 0..16 { s = s + f32(A[row * 16 + k]) * f32(B[k * 8 + column]) }
;>             D[row * 8 + column] = s
;>         }
;>     }
;> }
;! divergent-warp
@SA = internal addrspace(3) global [256 x half] undef, align 16
@SB = internal addrspace(3) global [128 x half] undef, align 16

define ptx_kernel void @f(ptr addrspace(1) noalias %A, ptr addrspace(1) noalias %B, ptr addrspace(1) noalias %D) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %a.from = getelementptr <8 x i16>, ptr addrspace(1) %A, i32 %t
  %a.to = getelementptr <8 x i16>, ptr addrspace(3) @SA, i32 %t
  %a.x = load <8 x i16>, ptr addrspace(1) %a.from, align 16
  store <8 x i16> %a.x, ptr addrspace(3) %a.to, align 16
  %b.from = getelementptr <4 x i16>, ptr addrspace(1) %B, i32 %t
  %b.to = getelementptr <4 x i16>, ptr addrspace(3) @SB, i32 %t
  %b.x = load <4 x i16>, ptr addrspace(1) %b.from, align 8
  store <4 x i16> %b.x, ptr addrspace(3) %b.to, align 8
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %a.row = and i32 %t, 15
  %a.half = lshr i32 %t, 4
  %a.line = mul i32 %a.row, 32
  %a.column = mul i32 %a.half, 16
  %a.offset = add i32 %a.line, %a.column
  %a.at = getelementptr i8, ptr addrspace(3) @SA, i32 %a.offset
  %a = call { i32, i32, i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l,~{memory}"(ptr addrspace(3) %a.at)
  %b.offset = mul i32 %a.row, 16
  %b.at = getelementptr i8, ptr addrspace(3) @SB, i32 %b.offset
  %b.int = ptrtoint ptr addrspace(3) %b.at to i32
  %b = call { i32, i32 } asm sideeffect "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {$0, $1}, [$2];", "=r,=r,r,~{memory}"(i32 %b.int)
  %a0 = extractvalue { i32, i32, i32, i32 } %a, 0
  %a1 = extractvalue { i32, i32, i32, i32 } %a, 1
  %a2 = extractvalue { i32, i32, i32, i32 } %a, 2
  %a3 = extractvalue { i32, i32, i32, i32 } %a, 3
  %b0 = extractvalue { i32, i32 } %b, 0
  %b1 = extractvalue { i32, i32 } %b, 1
  %half = icmp ult i32 %t, 16
  br i1 %half, label %go, label %gone ; fixed: br label %go
gone:
  ret void
go:
  %d = call { float, float, float, float } asm sideeffect "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0,$1,$2,$3}, {$4,$5,$6,$7}, {$8,$9}, {$10,$11,$12,$13};", "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f"(i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %b0, i32 %b1, float 0.0, float 0.0, float 0.0, float 0.0)
  %q = lshr i32 %t, 2
  %r = and i32 %t, 3
  %row.at = mul i32 %q, 8
  %col.at = mul i32 %r, 2
  %low = add i32 %row.at, %col.at
  %high = add i32 %low, 64
  %d0 = extractvalue { float, float, float, float } %d, 0
  %d1 = extractvalue { float, float, float, float } %d, 1
  %d2 = extractvalue { float, float, float, float } %d, 2
  %d3 = extractvalue { float, float, float, float } %d, 3
  %p0 = getelementptr float, ptr addrspace(1) %D, i32 %low
  %p1 = getelementptr float, ptr addrspace(1) %p0, i32 1
  %p2 = getelementptr float, ptr addrspace(1) %D, i32 %high
  %p3 = getelementptr float, ptr addrspace(1) %p2, i32 1
  store float %d0, ptr addrspace(1) %p0, align 4
  store float %d1, ptr addrspace(1) %p1, align 4
  store float %d2, ptr addrspace(1) %p2, align 4
  store float %d3, ptr addrspace(1) %p3, align 4
  ret void
}
