// tuner.h with every wrong argument: each is an error with a message, and changes nothing. For AddressSanitizer above
// all.

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <regex>

#include <tuner/tuner.h>

#include <tests/runtime/serving_environment.hpp>

namespace tuner {
namespace {

constexpr const char* kCopy = R"(
#pragma tuner kernel    copy
#pragma tuner size      n : int64 = 100
#pragma tuner parameter block = 32 64
#pragma tuner scalar    a : float = 2
#pragma tuner in        x[n] : float
#pragma tuner out       y[n] : float
#pragma tuner grid      max(1, ceil_div(n, block))
#pragma tuner block     block
#pragma tuner reference default
#pragma tuner default   block=32
__global__ void copy(float a, const float* x, float* y, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}
)";

class CArguments : public testing::ServingEnvironment {
 protected:
  CArguments() : ServingEnvironment("host", "never") {}
  void SetUp() override {
    ASSERT_EQ(tuner_kernel_from_text(kCopy, "copy", &copy), TUNER_OK) << tuner_last_error();
    ASSERT_EQ(tuner_array_new(sizeof(float), &array), TUNER_OK) << tuner_last_error();
  }
  void TearDown() override {
    tuner_kernel_free(copy);
    tuner_array_free(array);
  }

  tuner_kernel* copy = nullptr;
  tuner_array* array = nullptr;
};

/// The names of the functions that return a status.
std::set<std::string> functions_with_a_status() {
  std::ifstream file(TUNER_C_HEADER);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::regex declaration("tuner_status (tuner_\\w+)\\(");
  std::set<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), declaration), end; at != end; ++at) names.insert((*at)[1]);
  return names;
}

TEST_F(CArguments, AreRefusedByEveryFunction) {
  constexpr auto kNone = std::numeric_limits<std::size_t>::max();
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  const float one = 1;
  float result = 0;
  const std::int64_t n = 1, negative = -1, many[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  char* text = nullptr;
  tuner_kernel* kernel = nullptr;
  tuner_result* ran = nullptr;
  tuner_array* memory = nullptr;
  std::int64_t changed = 7;
  std::size_t room = 7;
  const char* const no_path[] = {nullptr};

  const auto reducing = [](auto&& change) {
    tuner_reduce_options options = TUNER_REDUCE_OPTIONS;
    change(options);
    return options;
  };
  const auto short_reduction = reducing([](auto& options) { options.bytes = 4; });
  const auto no_operation = reducing([](auto& options) { options.operation = static_cast<tuner_operation>(7); });
  const auto negative_operation = reducing([](auto& options) { options.operation = static_cast<tuner_operation>(-1); });
  const auto no_order = reducing([](auto& options) { options.order = static_cast<tuner_order>(7); });

  const tuner_argument right[] = {tuner_real(2), tuner_input(TUNER_FLOAT, &one), tuner_buffer(TUNER_FLOAT, &result)};
  const auto calling = [&](auto&& change) {
    tuner_call call = TUNER_CALL;
    call.sizes = &n;
    call.size_count = 1;
    call.arguments = right;
    call.argument_count = 3;
    change(call);
    return call;
  };
  const auto with_argument = [&](tuner_argument argument) {
    std::vector<tuner_argument> arguments(std::begin(right), std::end(right));
    arguments[2] = argument;
    return arguments;
  };
  tuner_argument of_no_kind = tuner_real(1), of_no_type = tuner_buffer(static_cast<tuner_type>(14), &result);
  of_no_kind.kind = static_cast<tuner_argument_kind>(9);
  const auto strange = with_argument(of_no_kind), untyped = with_argument(of_no_type);
  const auto null_output = with_argument(tuner_buffer(TUNER_FLOAT, nullptr));
  const auto const_output = with_argument(tuner_input(TUNER_FLOAT, &one));
  const auto other_type = with_argument(tuner_buffer(TUNER_DOUBLE, array));
  const auto too_many = std::vector<tuner_argument>(33, tuner_real(1));
  const auto of = [&](const std::vector<tuner_argument>& arguments) {
    return calling([&](auto& call) { call.arguments = arguments.data(), call.argument_count = arguments.size(); });
  };
  const tuner_call calls[] = {calling([](auto& call) { call.bytes = 8; }),
                              calling([](auto& call) { call.sizes = nullptr; }),
                              calling([](auto& call) { call.size_count = 0; }),
                              calling([&](auto& call) { call.sizes = many, call.size_count = 2; }),
                              calling([&](auto& call) { call.sizes = many, call.size_count = 9; }),
                              calling([&](auto& call) { call.sizes = &negative; }),
                              calling([](auto& call) { call.arguments = nullptr; }),
                              calling([](auto& call) { call.argument_count = 2; }),
                              calling([](auto& call) { call.argument_count = kNone; }),
                              of(strange),
                              of(untyped),
                              of(const_output),
                              of(other_type),
                              of(too_many)};
  const tuner_call null_call = of(null_output);

  const auto tuning = [](auto&& change) {
    tuner_tune_options options = TUNER_TUNE_OPTIONS;
    options.trials = 1;
    change(options);
    return options;
  };
  const tuner_tune_options tunings[] = {
      tuning([](auto& options) { options.bytes = 8; }), tuning([](auto& options) { options.wall_time_s = -1; }),
      tuning([](auto& options) { options.wall_time_s = NAN; }),
      tuning([](auto& options) { options.strategy = "luck"; }), tuning([](auto& options) { options.use = "graphs"; })};
  const auto running = [](auto&& change) {
    tuner_run_options options = TUNER_RUN_OPTIONS;
    change(options);
    return options;
  };
  const tuner_run_options runs[] = {running([](auto& options) { options.bytes = 8; }),
                                    running([](auto& options) { options.configuration = "block"; }),
                                    running([](auto& options) { options.configuration = "block=31"; }),
                                    running([](auto& options) { options.configuration = "blocks=32"; })};

  std::set<std::string> walked;
  const auto expect = [&](const char* call, tuner_status status, tuner_status expected = TUNER_INVALID_ARGUMENT) {
    EXPECT_EQ(status, expected) << call << ": " << tuner_status_name(status) << ", " << tuner_last_error();
    EXPECT_STRNE(tuner_last_error(), "") << call;
    walked.insert(std::string(call, std::string(call).find('(')));
  };
#define REFUSED(CALL) expect(#CALL, CALL)

  REFUSED(tuner_set(nullptr, "1"));
  REFUSED(tuner_set("tune", nullptr));
  REFUSED(tuner_set("", ""));
  REFUSED(tuner_set("tune", "\xff"));

  REFUSED(tuner_reduce(TUNER_FLOAT, &one, 1, nullptr, nullptr, 4));
  REFUSED(tuner_reduce(TUNER_FLOAT, &one, -1, nullptr, &result, 4));
  REFUSED(tuner_reduce(TUNER_FLOAT, nullptr, 1, nullptr, &result, 4));
  REFUSED(tuner_reduce(TUNER_FLOAT, &one, 1, nullptr, &result, 8));
  REFUSED(tuner_reduce(TUNER_FLOAT, &one, 1, nullptr, &result, 0));
  REFUSED(tuner_reduce(TUNER_VOID, &one, 1, nullptr, &result, 0));
  REFUSED(tuner_reduce(static_cast<tuner_type>(12), &one, 1, nullptr, &result, 0));
  REFUSED(tuner_reduce(TUNER_FLOAT, &one, 1, &short_reduction, &result, 4));
  REFUSED(tuner_reduce(TUNER_FLOAT, &one, 1, &no_operation, &result, 4));
  REFUSED(tuner_reduce(TUNER_FLOAT, &one, 1, &negative_operation, &result, 4));
  REFUSED(tuner_reduce(TUNER_FLOAT, &one, 1, &no_order, &result, 4));
  REFUSED(tuner_reduce_async(TUNER_FLOAT, &one, 1, nullptr, nullptr));
  REFUSED(tuner_reduce_async(TUNER_FLOAT, nullptr, 1, &result, nullptr));
  REFUSED(tuner_reduce_async(TUNER_FLOAT, &one, -1, &result, nullptr));
  REFUSED(tuner_reduce_async(TUNER_VOID, &one, 1, &result, nullptr));
  REFUSED(tuner_reduce_async(static_cast<tuner_type>(12), &one, 1, &result, nullptr));
  REFUSED(tuner_reduce_async(static_cast<tuner_type>(-2), &one, 1, &result, nullptr));
  REFUSED(tuner_reduce_async(TUNER_FLOAT, &one, 1, &result, &short_reduction));
  REFUSED(tuner_reduce_async(TUNER_FLOAT, &one, 1, &result, &no_operation));
  REFUSED(tuner_reduce_prepare(TUNER_FLOAT, nullptr, 1, nullptr, 0, &room));
  REFUSED(tuner_reduce_prepare(TUNER_FLOAT, &one, -1, nullptr, 0, &room));
  REFUSED(tuner_reduce_prepare(TUNER_VOID, &one, 1, nullptr, 0, &room));
  REFUSED(tuner_reduce_prepare(TUNER_FLOAT, &one, 1, &short_reduction, 0, &room));
  REFUSED(tuner_reduce_prepare(TUNER_FLOAT, &one, 1, &no_order, 0, &room));
  REFUSED(tuner_sum_matrix_2d(TUNER_FLOAT, nullptr, &one, &result, 1, 1, nullptr));
  REFUSED(tuner_sum_matrix_2d(TUNER_FLOAT, &one, nullptr, &result, 1, 1, nullptr));
  REFUSED(tuner_sum_matrix_2d(TUNER_FLOAT, &one, &one, nullptr, 1, 1, nullptr));
  REFUSED(tuner_sum_matrix_2d(TUNER_FLOAT, &one, &one, &result, -1, 1, nullptr));
  expect("tuner_sum_matrix_2d(", tuner_sum_matrix_2d(TUNER_FLOAT, &one, &one, &result, kMost, kMost, nullptr),
         TUNER_INVALID_KERNEL);  // its expressions overflow
  REFUSED(tuner_sum_matrix_2d(TUNER_HALF, &one, &one, &result, 1, 1, nullptr));
  REFUSED(tuner_sum_matrix_2d(TUNER_VOID, &one, &one, &result, 1, 1, nullptr));

  REFUSED(tuner_kernel_from_file(nullptr, &kernel));
  REFUSED(tuner_kernel_from_file("reduce", nullptr));
  expect("tuner_kernel_from_file(", tuner_kernel_from_file("", &kernel), TUNER_NOT_FOUND);
  REFUSED(tuner_kernel_from_text(nullptr, "a", &kernel));
  REFUSED(tuner_kernel_from_text(kCopy, nullptr, &kernel));
  REFUSED(tuner_kernel_from_text(kCopy, "a", nullptr));
  expect("tuner_kernel_from_text(", tuner_kernel_from_text("", "a", &kernel), TUNER_INVALID_KERNEL);
  REFUSED(tuner_kernel_with(nullptr, "", &kernel));
  REFUSED(tuner_kernel_with(copy, "T", &kernel));
  REFUSED(tuner_kernel_with(copy, "T=float", &kernel));
  REFUSED(tuner_kernel_with(copy, "", nullptr));
  REFUSED(tuner_kernel_used_as(nullptr, "graph", &kernel));
  REFUSED(tuner_kernel_used_as(copy, "graphs", &kernel));
  REFUSED(tuner_kernel_used_as(copy, "graph", nullptr));
  REFUSED(tuner_kernel_json(nullptr, &text));
  REFUSED(tuner_kernel_json(copy, nullptr));
  REFUSED(tuner_kernel_launch(nullptr, &calls[0]));
  REFUSED(tuner_kernel_launch(copy, nullptr));
  REFUSED(tuner_kernel_launch(copy, &null_call));
  REFUSED(tuner_kernel_prepare(nullptr, &calls[0], 0, &room));
  REFUSED(tuner_kernel_prepare(copy, nullptr, 0, &room));
  for (const tuner_call& call : calls) {
    SCOPED_TRACE(&call - calls);
    REFUSED(tuner_kernel_launch(copy, &call));
    REFUSED(tuner_kernel_prepare(copy, &call, 0, &room));
  }
  REFUSED(tuner_kernel_explain(nullptr, &n, 1, nullptr, &text));
  REFUSED(tuner_kernel_explain(copy, nullptr, 1, nullptr, &text));
  REFUSED(tuner_kernel_explain(copy, many, 0, nullptr, &text));
  REFUSED(tuner_kernel_explain(copy, many, 9, nullptr, &text));
  REFUSED(tuner_kernel_explain(copy, many, kNone, nullptr, &text));
  REFUSED(tuner_kernel_explain(copy, &negative, 1, nullptr, &text));
  REFUSED(tuner_kernel_explain(copy, &n, 1, "T=float", &text));
  REFUSED(tuner_kernel_explain(copy, &n, 1, nullptr, nullptr));

  std::int64_t counts[4] = {};
  std::size_t needed = 0;
  REFUSED(tuner_kernel_elements(nullptr, &n, 1, nullptr, counts, 4, &needed));
  REFUSED(tuner_kernel_elements(copy, nullptr, 1, nullptr, counts, 4, &needed));
  REFUSED(tuner_kernel_elements(copy, &negative, 1, nullptr, counts, 4, &needed));
  REFUSED(tuner_kernel_elements(copy, &n, 1, nullptr, nullptr, 4, &needed));
  REFUSED(tuner_kernel_elements(copy, &n, 1, nullptr, counts, 4, nullptr));

  REFUSED(tuner_kernel_tune(nullptr, &n, 1, nullptr, nullptr, &ran));
  REFUSED(tuner_kernel_tune(copy, nullptr, 1, nullptr, nullptr, &ran));
  REFUSED(tuner_kernel_tune(copy, many, 2, nullptr, nullptr, &ran));
  REFUSED(tuner_kernel_tune(copy, &negative, 1, nullptr, nullptr, &ran));
  REFUSED(tuner_kernel_tune(copy, &n, 1, "T=float", nullptr, &ran));
  REFUSED(tuner_kernel_tune(copy, &n, 1, nullptr, nullptr, nullptr));
  REFUSED(tuner_kernel_tune_together(nullptr, &n, 1, 1, nullptr, nullptr, &text));
  REFUSED(tuner_kernel_tune_together(copy, nullptr, 1, 1, nullptr, nullptr, &text));
  REFUSED(tuner_kernel_tune_together(copy, &n, 1, 0, nullptr, nullptr, &text));
  REFUSED(tuner_kernel_tune_together(copy, many, 2, 1, nullptr, nullptr, &text));
  REFUSED(tuner_kernel_tune_together(copy, &negative, 1, 1, nullptr, nullptr, &text));
  REFUSED(tuner_kernel_tune_together(copy, &n, 1, 1, nullptr, nullptr, nullptr));
  for (const tuner_tune_options& options : tunings) {
    SCOPED_TRACE(&options - tunings);
    REFUSED(tuner_kernel_tune(copy, &n, 1, nullptr, &options, &ran));
  }
  REFUSED(tuner_kernel_run(nullptr, &n, 1, nullptr, nullptr, &ran));
  REFUSED(tuner_kernel_run(copy, nullptr, 1, nullptr, nullptr, &ran));
  REFUSED(tuner_kernel_run(copy, many, 9, nullptr, nullptr, &ran));
  REFUSED(tuner_kernel_run(copy, &n, 1, "T", nullptr, &ran));
  REFUSED(tuner_kernel_run(copy, &n, 1, nullptr, nullptr, nullptr));
  for (const tuner_run_options& options : runs) {
    SCOPED_TRACE(&options - runs);
    REFUSED(tuner_kernel_run(copy, &n, 1, nullptr, &options, &ran));
  }

  REFUSED(tuner_metrics_json(nullptr));
  REFUSED(tuner_possible_name(nullptr, &text));
  REFUSED(tuner_possible_name("block", nullptr));
  REFUSED(tuner_kernel_parameters(nullptr, "copy", &text));
  REFUSED(tuner_kernel_parameters(kCopy, nullptr, &text));
  REFUSED(tuner_kernel_parameters(kCopy, "copy", nullptr));

  REFUSED(tuner_array_new(4, nullptr));
  expect("tuner_array_new(", tuner_array_new(kNone, &memory), TUNER_OUT_OF_MEMORY);
  REFUSED(tuner_array_upload(nullptr, &one, 4));
  REFUSED(tuner_array_upload(array, nullptr, 4));
  REFUSED(tuner_array_upload(array, &one, 5));
  REFUSED(tuner_array_upload(array, &one, kNone));
  REFUSED(tuner_array_download(nullptr, &result, 4));
  REFUSED(tuner_array_download(array, nullptr, 4));
  REFUSED(tuner_array_download(array, &result, 5));

  REFUSED(tuner_wisdom_export(nullptr, nullptr, nullptr));
  REFUSED(tuner_wisdom_import(nullptr, nullptr, "", &changed));
  REFUSED(tuner_wisdom_import(nullptr, "", nullptr, &changed));
  REFUSED(tuner_wisdom_merge(nullptr, nullptr, 0, &changed));
  REFUSED(tuner_wisdom_merge("new.db", nullptr, 1, &changed));
  REFUSED(tuner_wisdom_merge("new.db", no_path, 1, &changed));
  REFUSED(tuner_wisdom_freeze(nullptr, nullptr, 0));
  REFUSED(tuner_wisdom_freeze("new.db", nullptr, 1));
  REFUSED(tuner_wisdom_freeze("new.db", no_path, 1));
#undef REFUSED

  // Nothing was written.
  EXPECT_EQ(text, nullptr);
  EXPECT_EQ(kernel, nullptr);
  EXPECT_EQ(ran, nullptr);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(changed, 7);
  EXPECT_EQ(room, 7u);
  EXPECT_EQ(result, 0);
  // These two cannot be wrong: a null function is the usual one, and there are no arguments.
  walked.insert({"tuner_on_warning", "tuner_trim"});
  EXPECT_EQ(walked, functions_with_a_status());
}

TEST_F(CArguments, MayBeNullWhereThereIsNothingToDo) {
  tuner_kernel_free(nullptr);
  tuner_result_free(nullptr);
  tuner_array_free(nullptr);
  tuner_text_free(nullptr);
  EXPECT_STREQ(tuner_kernel_name(nullptr), "");
  EXPECT_STREQ(tuner_result_configuration(nullptr), "");
  EXPECT_STREQ(tuner_result_json(nullptr), "");
  double low = 1, high = 1;
  EXPECT_EQ(tuner_result_median_ns(nullptr, &low, &high), 0);
  EXPECT_EQ(low + high, 0);
  EXPECT_EQ(tuner_array_data(nullptr), nullptr);
  EXPECT_EQ(tuner_array_upload(array, nullptr, 0), TUNER_OK);
  EXPECT_EQ(tuner_array_download(array, nullptr, 0), TUNER_OK);
  EXPECT_EQ(tuner_on_warning(nullptr, nullptr), TUNER_OK);
  EXPECT_EQ(tuner_trim(), TUNER_OK);
}

TEST_F(CArguments, OfNoTypeAndNoStatusHaveAnAnswer) {
  EXPECT_EQ(tuner_type_bytes(TUNER_VOID), 0u);
  EXPECT_EQ(tuner_type_bytes(TUNER_BFLOAT16), 2u);
  EXPECT_EQ(tuner_type_bytes(TUNER_E5M2), 1u);
  EXPECT_EQ(tuner_type_bytes(static_cast<tuner_type>(19)), 0u);
  EXPECT_EQ(tuner_type_bytes(TUNER_E8M0), 1u);
  EXPECT_EQ(tuner_type_bytes(static_cast<tuner_type>(-7)), 0u);
  EXPECT_EQ(tuner_reduce_result(static_cast<tuner_type>(12)), 12);
  EXPECT_STREQ(tuner_status_name(static_cast<tuner_status>(99)), "unknown status");
  EXPECT_STREQ(tuner_status_name(static_cast<tuner_status>(-1)), "unknown status");
}

}  // namespace
}  // namespace tuner
