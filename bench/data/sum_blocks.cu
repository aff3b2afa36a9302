// C = A + B over the shapes of its thread block alone: the job with which tuners are compared.

#pragma tuner kernel      sumBlocks
#pragma tuner size        nx ny : int = 8192
#pragma tuner parameter   block_x = 1 2 4 8 16 32 64 128 256 512 1024
#pragma tuner parameter   block_y = 1 2 4 8 16 32 64 128 256 512 1024
#pragma tuner constraint  whole_warps: block_x * block_y >= 32
#pragma tuner in          a[nx * ny] : float, b[nx * ny] : float
#pragma tuner out         c[nx * ny] : float
#pragma tuner block       block_x, block_y
#pragma tuner grid        ceil_div(nx, block_x), ceil_div(ny, block_y)
#pragma tuner arguments   a, b, c, nx, ny
#pragma tuner instantiate sumBlocks<block_x, block_y>
#pragma tuner reference   sumReference
#pragma tuner verify      nx=33 ny=7 offset=1
#pragma tuner bytes       12 * nx * ny
#pragma tuner default     block_x=32 block_y=8

template <int block_x, int block_y>
__global__ void sumBlocks(const float* a, const float* b, float* c, int nx, int ny) {
  const int x = blockIdx.x * block_x + threadIdx.x;
  const int y = blockIdx.y * block_y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  const int i = y * nx + x;
  c[i] = a[i] + b[i];
}

__global__ void sumReference(const float* a, const float* b, float* c, int nx, int ny) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nx * ny) c[i] = a[i] + b[i];
}
