#pragma once
// For declarations in the code around kernels.
typedef unsigned long pthread_t;
typedef struct {
  long parts[8];
} pthread_attr_t, pthread_barrier_t, pthread_cond_t, pthread_mutex_t;
