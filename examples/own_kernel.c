/* Your own kernel, from C. The first run tunes it for one size; later runs are served from the cache.
 *   own_kernel_c [path of axpy.cu] */
#include <stdio.h>
#include <stdlib.h>

#include <tuner/tuner.h>

static void check(tuner_status status) {
  if (status == TUNER_OK) return;
  fprintf(stderr, "%s\n", tuner_last_error());
  exit(1);
}

/* Device memory with n copies of a value. */
static tuner_array* filled(size_t n, float value) {
  float* values = malloc(n * sizeof(float));
  tuner_array* array = NULL;
  size_t i;
  if (values == NULL) exit(1);
  for (i = 0; i < n; ++i) values[i] = value;
  check(tuner_array_new(n * sizeof(float), &array));
  check(tuner_array_upload(array, values, n * sizeof(float)));
  free(values);
  return array;
}

int main(int argc, char** argv) {
  const int64_t n = 100000;
  tuner_array *x = filled(100000, 3), *y = filled(100000, 1);

  tuner_kernel* axpy = NULL;
  tuner_tune_options options = TUNER_TUNE_OPTIONS;
  tuner_result* tuned = NULL;
  check(tuner_kernel_from_file(argc > 1 ? argv[1] : "./axpy.cu", &axpy));
  options.trials = 8;
  check(tuner_kernel_tune(axpy, &n, 1, "T=float", &options, &tuned));
  printf("tuned: %s, %.1f us\n", tuner_result_configuration(tuned), tuner_result_median_ns(tuned, NULL, NULL) / 1000);

  tuner_argument arguments[3];
  arguments[0] = tuner_real(2);
  arguments[1] = tuner_input(TUNER_FLOAT, tuner_array_data(x));
  arguments[2] = tuner_buffer(TUNER_FLOAT, tuner_array_data(y));
  tuner_call call = TUNER_CALL;
  call.sizes = &n;
  call.size_count = 1;
  call.arguments = arguments;
  call.argument_count = 3;
  check(tuner_kernel_launch(axpy, &call));

  float sum = 0;
  check(tuner_reduce(TUNER_FLOAT, tuner_array_data(y), n, NULL, &sum, sizeof sum));
  printf("the sum of 100000 times 2 * 3 + 1 is %.0f\n", sum);

  tuner_result_free(tuned);
  tuner_kernel_free(axpy);
  tuner_array_free(x);
  tuner_array_free(y);
  return sum == 700000 ? 0 : 1;
}
