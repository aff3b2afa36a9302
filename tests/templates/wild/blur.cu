#pragma tuner kernel    blur
#pragma tuner size      nx = 201, ny = 77
#pragma tuner parameter block_size_x = 16 32
#pragma tuner parameter block_size_y = 4 8
#pragma tuner parameter radius_loop = 0 1
#pragma tuner in        pixels[nx * ny] : uint8
#pragma tuner in        weights[9] : float
#pragma tuner out       blurred[nx * ny] : float
#pragma tuner texture   image = pixels[nx, ny] linear as_float normalized mirror
#pragma tuner texture   kernel_weights = weights[9] fetched
#pragma tuner surface   result = blurred[nx, ny]
#pragma tuner grid      ceil_div(nx, block_size_x), ceil_div(ny, block_size_y)
#pragma tuner tolerance relative 1e-5 absolute 1e-6
#pragma tuner reference blur_slowly
#pragma tuner grid      ceil_div(nx, 16), ceil_div(ny, 16)
#pragma tuner block     16, 16
#pragma tuner arguments image, kernel_weights, blurred, nx, ny

__device__ float blurred_at(cudaTextureObject_t image, cudaTextureObject_t kernel_weights, int x, int y, int nx, int ny) {
  float sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      sum += tex1Dfetch<float>(kernel_weights, 3 * (dy + 1) + dx + 1) *
             tex2D<float>(image, (x + dx + 0.75f) / nx, (y + dy + 0.5f) / ny);
  return sum;
}

extern "C" __global__ void blur(cudaTextureObject_t image, cudaTextureObject_t kernel_weights,
                                cudaSurfaceObject_t result, int nx, int ny) {
  const int x = blockIdx.x * block_size_x + threadIdx.x, y = blockIdx.y * block_size_y + threadIdx.y;
  if (x >= nx || y >= ny) return;
#if radius_loop
  surf2Dwrite(blurred_at(image, kernel_weights, x, y, nx, ny), result, x * (int)sizeof(float), y);
#else
  float sum = 0;
  for (int i = 0; i < 9; ++i)
    sum += tex1Dfetch<float>(kernel_weights, i) *
           tex2D<float>(image, (x + i % 3 - 0.25f) / nx, (y + i / 3 - 0.5f) / ny);
  surf2Dwrite(sum, result, x * (int)sizeof(float), y);
#endif
}

extern "C" __global__ void blur_slowly(cudaTextureObject_t image, cudaTextureObject_t kernel_weights, float* blurred,
                                       int nx, int ny) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < nx && y < ny) blurred[y * nx + x] = blurred_at(image, kernel_weights, x, y, nx, ny);
}
