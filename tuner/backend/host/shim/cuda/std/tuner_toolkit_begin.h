// Before a header of the toolkit's libcu++, which is then for the host's compiler; tuner_toolkit_end.h follows it.
#pragma push_macro("__CUDACC__")
#pragma push_macro("__NVCC__")
#undef __CUDACC__
#undef __NVCC__
// They need members of the small floating-point types that those here do not have.
#define CCCL_DISABLE_FP16_SUPPORT
#define CCCL_DISABLE_BF16_SUPPORT
