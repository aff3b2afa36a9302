#pragma pop_macro("__NVCC__")
#pragma pop_macro("__CUDACC__")
