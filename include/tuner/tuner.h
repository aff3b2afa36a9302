#pragma once
/// tuner from C, and from every language that can call C. C99. The C++ headers explain what the calls do; this one says
/// how C makes them.
///
/// Functions that can fail return a status; tuner_last_error() then explains what happened, where, and what to do. They
/// write their results, which come last, only with TUNER_OK. A null pointer where something is needed is
/// TUNER_INVALID_ARGUMENT. All functions are thread-safe, and any threads may share a kernel. An array is for one
/// thread at a time.
///
/// `tuner_..._free` frees an object; null is allowed. A text in `char**` is the caller's: tuner_text_free(). Texts are
/// UTF-8. Sizes count elements. Pointers are borrowed until the launch has ended on its stream.
///
/// From version 1.0 on this interface only grows. Later versions add functions, and values at the end of enumerations.
/// They add members at the end of options; the first member says which of them the program knows.

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TUNER_C_API __attribute__((visibility("default")))
#else
#define TUNER_C_API
#endif

#ifdef __cplusplus
#define TUNER_IS_INT : int /* any int is a value of these enumerations, as in C */
extern "C" {
#else
#define TUNER_IS_INT
#endif

/* ---- statuses and types ---- */

typedef enum tuner_status TUNER_IS_INT {
  TUNER_OK,
  TUNER_OTHER_ERROR,
  TUNER_INVALID_ARGUMENT, /* an argument, a setting or an environment variable has an impossible value */
  TUNER_INVALID_KERNEL,   /* a kernel file does not describe a kernel */
  TUNER_NOT_FOUND,        /* a file, kernel or device does not exist */
  TUNER_NOT_PREPARED,     /* a launch in a stream capture needs tuner_kernel_prepare() before the capture begins */
  TUNER_OUT_OF_MEMORY,    /* of the device or the host */
  TUNER_CONTEXT_LOST,     /* a fault, a reset or fork() ended the device's context; nothing more runs in it */
  TUNER_DEVICE_ERROR,     /* any other error of the CUDA driver */
  TUNER_COMPILER_ERROR,   /* a kernel does not compile or load, or there is no compiler */
  TUNER_CACHE_ERROR,      /* a database or its file cannot be used */
  TUNER_STATUS_INT = 0x7fffffff /* enumerations have the size of an int: values of other versions are no errors */
} tuner_status;

/// The last failure of this thread, until its next one; "" before the first.
TUNER_C_API const char* tuner_last_error(void);
/// "not found" for TUNER_NOT_FOUND.
TUNER_C_API const char* tuner_status_name(tuner_status status);
/// "0.1.0": that of the library, which may be later than that of this header.
TUNER_C_API const char* tuner_version(void);
TUNER_C_API void tuner_text_free(char* text);

/// The types of elements. TUNER_VOID stands for structs, and for elements of unknown type.
typedef enum tuner_type TUNER_IS_INT {
  TUNER_VOID = -1,
  TUNER_INT8,
  TUNER_UINT8,
  TUNER_INT16,
  TUNER_UINT16,
  TUNER_INT32,
  TUNER_UINT32,
  TUNER_INT64,
  TUNER_UINT64,
  TUNER_HALF,
  TUNER_BFLOAT16,
  TUNER_FLOAT,
  TUNER_DOUBLE,
  TUNER_E4M3, /* __nv_fp8_e4m3 */
  TUNER_E5M2,
  TUNER_E3M2, /* __nv_fp6_e3m2 */
  TUNER_E2M3,
  TUNER_E2M1,   /* __nv_fp4_e2m1 */
  TUNER_E2M1X2, /* __nv_fp4x2_e2m1: two numbers in a byte */
  TUNER_E8M0,   /* __nv_fp8_e8m0 */
  TUNER_TYPE_INT = 0x7fffffff
} tuner_type;

/// Of one element; 0 for TUNER_VOID.
TUNER_C_API size_t tuner_type_bytes(tuner_type type);

/// A cudaStream_t or CUstream; null is the default stream. Ignored on the host backend, which is synchronous.
typedef struct CUstream_st* tuner_stream;

/* ---- settings ---- */

/// Before the first launch. \p name and \p value: "tune": "auto", "never" or "on_first_use"; "tuning_time": seconds;
/// "device": "auto", "cuda", "host" or the number of a GPU; "database": a path; "remember_misses": "true" or "false".
/// "effort": that of tuner_kernel_tune(), as a word of tuner_tune_options. tuner/settings.hpp explains them.
TUNER_C_API tuner_status tuner_set(const char* name, const char* value);
/// Each warning is given to \p warn once, in the thread that caused it; null: a line on stderr. \p user is passed on.
TUNER_C_API tuner_status tuner_on_warning(void (*warn)(const char* message, void* user), void* user);
/// Frees the device memory that the library keeps for launches.
TUNER_C_API tuner_status tuner_trim(void);

/* ---- reductions and matrix sums: tuner/reduce.hpp ---- */

typedef enum tuner_operation TUNER_IS_INT {
  TUNER_SUM,
  TUNER_MIN,
  TUNER_MAX,
  TUNER_PRODUCT,
  TUNER_OPERATION_INT = 0x7fffffff
} tuner_operation;
/// With TUNER_ANY_ORDER, floating-point values are combined in the order in which blocks end, which can be faster.
typedef enum tuner_order TUNER_IS_INT { TUNER_FIXED_ORDER, TUNER_ANY_ORDER, TUNER_ORDER_INT = 0x7fffffff } tuner_order;

typedef struct tuner_reduce_options {
  size_t bytes; /* sizeof(tuner_reduce_options) */
  tuner_operation operation;
  tuner_order order;
  tuner_stream stream;
  void* workspace; /* null: the library's */
  size_t workspace_bytes;
} tuner_reduce_options;
#define TUNER_REDUCE_OPTIONS \
  { sizeof(tuner_reduce_options), TUNER_SUM, TUNER_FIXED_ORDER, 0, 0, 0 }

/// The type of the result of a reduction of elements of \p type: 64 bits for integers of 8 and 16 bits, float for half
/// and bfloat16, else \p type.
TUNER_C_API tuner_type tuner_reduce_result(tuner_type type);
/// Reduces \p n elements at \p data, and waits. \p options may be null. \p result: room on the host for one
/// tuner_reduce_result() of \p result_bytes.
TUNER_C_API tuner_status tuner_reduce(tuner_type type, const void* data, int64_t n, const tuner_reduce_options* options,
                                      void* result, size_t result_bytes);
/// Enqueues the reduction and returns. \p out: device memory for the result.
TUNER_C_API tuner_status tuner_reduce_async(tuner_type type, const void* data, int64_t n, void* out,
                                            const tuner_reduce_options* options);
/// Does the work of a first call, and makes room for \p captures captured calls. \p workspace_bytes may be null.
TUNER_C_API tuner_status tuner_reduce_prepare(tuner_type type, const void* data, int64_t n,
                                              const tuner_reduce_options* options, size_t captures,
                                              size_t* workspace_bytes);
/// Enqueues c = a + b: \p ny rows of \p nx elements of TUNER_FLOAT, TUNER_DOUBLE or TUNER_INT32.
TUNER_C_API tuner_status tuner_sum_matrix_2d(tuner_type type, const void* a, const void* b, void* c, int64_t nx,
                                             int64_t ny, tuner_stream stream);

/* ---- kernels: tuner/kernel.hpp ---- */

typedef struct tuner_kernel tuner_kernel;

/// A kernel on the template path, or a `.cu` file.
TUNER_C_API tuner_status tuner_kernel_from_file(const char* name_or_path, tuner_kernel** kernel);
/// \p text: the contents of a kernel file. \p name: for messages.
TUNER_C_API tuner_status tuner_kernel_from_text(const char* text, const char* name, tuner_kernel** kernel);
/// The same kernel with choices that do not follow from pointers: "operation=max order=any".
TUNER_C_API tuner_status tuner_kernel_with(const tuner_kernel* kernel, const char* choices, tuner_kernel** with);
/// The same kernel for a program that says how it uses it: "single", "hot", "stream" or "graph", as in tuner/use.hpp.
/// Results for that use come before those for single launches.
TUNER_C_API tuner_status tuner_kernel_used_as(const tuner_kernel* kernel, const char* use, tuner_kernel** used);
TUNER_C_API void tuner_kernel_free(tuner_kernel* kernel);

TUNER_C_API const char* tuner_kernel_name(const tuner_kernel* kernel);
/// The kernel file as JSON: `name`, `choices`, `sizes`, `parameters` and `arguments`. The arguments are the buffers and
/// scalars that a launch takes, in that order.
TUNER_C_API tuner_status tuner_kernel_json(const tuner_kernel* kernel, char** json);

typedef enum tuner_argument_kind TUNER_IS_INT {
  TUNER_ARGUMENT_BUFFER,
  TUNER_ARGUMENT_REAL,
  TUNER_ARGUMENT_SIGNED,
  TUNER_ARGUMENT_UNSIGNED,
  TUNER_ARGUMENT_STRUCT,
  TUNER_ARGUMENT_INT = 0x7fffffff
} tuner_argument_kind;
/// An argument of a launch: made by the functions below.
typedef struct tuner_argument {
  tuner_argument_kind kind;
  tuner_type type; /* of a buffer's elements */
  int is_const;    /* a buffer that cannot be an output */
  unsigned bytes;  /* of a struct */
  union {
    const void* buffer; /* or struct */
    double real;
    int64_t integer;
    uint64_t natural;
  } value;
} tuner_argument;

static inline tuner_argument tuner_buffer(tuner_type type, void* data) {
  tuner_argument argument = {TUNER_ARGUMENT_BUFFER, type, 0, 0, {data}};
  return argument;
}
/// Data that only an input may be.
static inline tuner_argument tuner_input(tuner_type type, const void* data) {
  tuner_argument argument = {TUNER_ARGUMENT_BUFFER, type, 1, 0, {data}};
  return argument;
}
/// A number of any floating type, also of half, bfloat16 and fp8.
static inline tuner_argument tuner_real(double value) {
  tuner_argument argument = {TUNER_ARGUMENT_REAL, TUNER_VOID, 0, 0, {0}};
  argument.value.real = value;
  return argument;
}
static inline tuner_argument tuner_signed(int64_t value) {
  tuner_argument argument = {TUNER_ARGUMENT_SIGNED, TUNER_VOID, 0, 0, {0}};
  argument.value.integer = value;
  return argument;
}
static inline tuner_argument tuner_unsigned(uint64_t value) {
  tuner_argument argument = {TUNER_ARGUMENT_UNSIGNED, TUNER_VOID, 0, 0, {0}};
  argument.value.natural = value;
  return argument;
}
/// A struct that the kernel takes by value: \p bytes of plain data at \p data, which the call reads.
static inline tuner_argument tuner_struct(const void* data, size_t bytes) {
  tuner_argument argument = {TUNER_ARGUMENT_STRUCT, TUNER_VOID, 0, 0, {data}};
  argument.bytes = bytes < 0xffffffffu ? (unsigned)bytes : 0xffffffffu;
  return argument;
}

/// The most arguments of a launch. CUDA has less room for parameters: 4 KB, or 32 KB with CUDA 12.1 and later.
#define TUNER_MAX_ARGUMENTS 8192

/// One call of a kernel. \p sizes: in the order of the kernel file, at most 8. \p arguments: buffers in the order of
/// the kernel's in, out, inout and consumed ones, and numbers and structs in that of its scalars; the two may be mixed.
typedef struct tuner_call {
  size_t bytes; /* sizeof(tuner_call) */
  const int64_t* sizes;
  size_t size_count;
  const tuner_argument* arguments;
  size_t argument_count;
  tuner_stream stream;
  void* workspace; /* null: the library's */
  size_t workspace_bytes;
} tuner_call;
#define TUNER_CALL \
  { sizeof(tuner_call), 0, 0, 0, 0, 0, 0, 0 }

/// Enqueues the kernel, with its best known configuration, and returns.
TUNER_C_API tuner_status tuner_kernel_launch(const tuner_kernel* kernel, const tuner_call* call);
/// Does the work of a first launch, and makes room for \p captures captured launches. Launches nothing; outputs may be
/// null. \p workspace_bytes may be null.
TUNER_C_API tuner_status tuner_kernel_prepare(const tuner_kernel* kernel, const tuner_call* call, size_t captures,
                                              size_t* workspace_bytes);
/// One sentence: the configuration for this problem, and how it was found. \p choices: "T=float", or null.
TUNER_C_API tuner_status tuner_kernel_explain(const tuner_kernel* kernel, const int64_t* sizes, size_t size_count,
                                              const char* choices, char** sentence);
/// How many elements each array of a launch needs, in the order of the arguments. A vector's components, and a struct's
/// bytes, are counted one by one. \p counts: room for \p count numbers; \p needed: how many arrays there are.
TUNER_C_API tuner_status tuner_kernel_elements(const tuner_kernel* kernel, const int64_t* sizes, size_t size_count,
                                               const char* choices, int64_t* counts, size_t count, size_t* needed);

/* ---- tuning and single runs: tuner/tune.hpp, tuner/run.hpp ---- */

typedef struct tuner_result tuner_result;

typedef struct tuner_tune_options {
  size_t bytes;         /* sizeof(tuner_tune_options) */
  double wall_time_s;   /* when the search ends, in place of an effort; 0: no such limit */
  size_t trials;        /* the same, as a number of configurations */
  const char* strategy; /* null: "auto" */
  uint64_t seed;
  int force;           /* measure even if the answer is known */
  int isolated;        /* run configurations in worker processes; see TuneOptions in tuner/tune.hpp */
  int check_on_host;   /* also look for races on the host, or with compute-sanitizer */
  const char* metrics; /* names with commas between them, or null */
  /* After every trial, in the thread that called the function. Any value but 0 stops the tuning early. */
  int (*on_trial)(size_t finished, double best_ns, void* user);
  void* user;
  const char* use;    /* how the program uses the kernel: see tuner_kernel_used_as(); null: "single" */
  const char* effort; /* "none", "quick", "normal", "thorough"; null: tuner_set("effort", …), unless there is a limit */
} tuner_tune_options;
#define TUNER_TUNE_OPTIONS \
  { sizeof(tuner_tune_options), 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0 }

typedef struct tuner_run_options {
  size_t bytes;              /* sizeof(tuner_run_options) */
  const char* configuration; /* "block_x=32 block_y=16"; null, or other parameters: as a launch would have them */
  int without_verification;
  const char* metrics; /* names with commas between them, or null */
  const char* use;     /* as in tuner_tune_options */
} tuner_run_options;
#define TUNER_RUN_OPTIONS \
  { sizeof(tuner_run_options), 0, 0, 0, 0 }

/// Tunes for one problem, and stores the result, which later launches use. \p choices: "T=float", or null. \p options
/// may be null.
TUNER_C_API tuner_status tuner_kernel_tune(const tuner_kernel* kernel, const int64_t* sizes, size_t size_count,
                                           const char* choices, const tuner_tune_options* options,
                                           tuner_result** result);
/// Tunes for several problems together, and stores the rule, which later launches use: see tune_together() in
/// tuner/tune.hpp. \p sizes: \p problems times \p size_count numbers. \p json: the members of tuner::RuleResult;
/// null for what was not measured.
TUNER_C_API tuner_status tuner_kernel_tune_together(const tuner_kernel* kernel, const int64_t* sizes, size_t size_count,
                                                    size_t problems, const char* choices,
                                                    const tuner_tune_options* options, char** json);
/// Compiles, verifies and times one configuration. Stores nothing.
TUNER_C_API tuner_status tuner_kernel_run(const tuner_kernel* kernel, const int64_t* sizes, size_t size_count,
                                          const char* choices, const tuner_run_options* options, tuner_result** result);

TUNER_C_API const char* tuner_result_configuration(const tuner_result* result);
/// The median of one run. \p low_ns, \p high_ns: its 95% confidence interval; they may be null.
TUNER_C_API double tuner_result_median_ns(const tuner_result* result, double* low_ns, double* high_ns);
/// Everything about it, as JSON: the members of tuner::TuneResult or tuner::RunResult.
TUNER_C_API const char* tuner_result_json(const tuner_result* result);
TUNER_C_API void tuner_result_free(tuner_result* result);

/// All metrics that have a name, as JSON: `name`, `unit` and `meaning`.
TUNER_C_API tuner_status tuner_metrics_json(char** json);

/* ---- for programs that write kernel files ---- */

/// \p name, with a `_` at its end if a kernel file cannot give it to a parameter, size or buffer.
TUNER_C_API tuner_status tuner_possible_name(const char* name, char** possible);
/// The parameters of the `__global__` function \p kernel in the C++ of \p text, as JSON: `name`, `type` and `is_const`
/// (whether it points to const). Macros are not expanded.
TUNER_C_API tuner_status tuner_kernel_parameters(const char* text, const char* kernel, char** json);

/* ---- arrays: tuner/array.hpp ---- */

typedef struct tuner_array tuner_array;

/// Memory where kernels run: of the device, or ordinary memory on the host backend. Not initialised.
TUNER_C_API tuner_status tuner_array_new(size_t bytes, tuner_array** array);
TUNER_C_API void* tuner_array_data(tuner_array* array);
/// Copies \p bytes from the host to the beginning of the array. Waits for earlier launches on all streams.
TUNER_C_API tuner_status tuner_array_upload(tuner_array* array, const void* from, size_t bytes);
/// Copies \p bytes at the beginning of the array to the host. Waits for earlier launches on all streams.
TUNER_C_API tuner_status tuner_array_download(const tuner_array* array, void* to, size_t bytes);
TUNER_C_API void tuner_array_free(tuner_array* array);

/* ---- wisdom: databases of results ---- */

/// The best configurations as text for review. \p database: a path; null: the user's. \p kernel: only its results;
/// null: all.
TUNER_C_API tuner_status tuner_wisdom_export(const char* database, const char* kernel, char** text);
/// Adds such a text, all of it or nothing. \p source: its name in messages. \p changed: how many best configurations
/// are new; it may be null.
TUNER_C_API tuner_status tuner_wisdom_import(const char* database, const char* text, const char* source,
                                             int64_t* changed);
/// Adds everything in \p count \p databases to \p into. \p changed: as above.
TUNER_C_API tuner_status tuner_wisdom_merge(const char* into, const char* const* databases, size_t count,
                                            int64_t* changed);
/// Makes a frozen database of \p count \p databases: with $TUNER_FROZEN it alone answers every call. Replaces only a
/// file that is frozen itself.
TUNER_C_API tuner_status tuner_wisdom_freeze(const char* frozen, const char* const* databases, size_t count);

#ifdef __cplusplus
}
#else
#ifndef TUNER_OWN_BUILD
#ifndef TUNER_INSTALLATION_PREFIX
#define TUNER_INSTALLATION_PREFIX __FILE__ "/../../.." /* of include/tuner/tuner.h */
#endif
/// Where a program's copy of tuner finds the worker and the shipped wisdom: see tuner/problem.hpp.
__attribute__((weak, used, visibility("default"))) const char* tuner_installation_prefix(void);
__attribute__((weak, used, visibility("default"))) const char* tuner_installation_prefix(void) {
  return TUNER_INSTALLATION_PREFIX;
}
#endif
#endif
