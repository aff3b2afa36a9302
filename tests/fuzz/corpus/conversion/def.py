def
tune_kernel
