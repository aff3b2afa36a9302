// tuner.h on the host backend: right results.

#include <nlohmann/json.hpp>

#include <tuner/tuner.h>

#include <tests/runtime/serving_environment.hpp>

namespace tuner {
namespace {

constexpr const char* kAxpy = R"(
#pragma tuner kernel      axpy
#pragma tuner type        T = float double
#pragma tuner size        n : int64 = 1000
#pragma tuner parameter   block = 32 64 96 128 160 192
#pragma tuner scalar      a : T = 2
#pragma tuner in          x[n]
#pragma tuner inout       y[n]
#pragma tuner grid        max(1, ceil_div(n, block))
#pragma tuner block       block
#pragma tuner arguments   a, x, y, n
#pragma tuner instantiate axpy<T>
#pragma tuner reference   default
#pragma tuner default     block=64
template <typename T>
__global__ void axpy(T a, const T* x, T* y, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
)";

class CInterface : public testing::ServingEnvironment {
 protected:
  CInterface() : ServingEnvironment("host", "never") {}
  void TearDown() override { tuner_kernel_free(axpy_); }

  const tuner_kernel* axpy() {
    if (axpy_ == nullptr) {
      EXPECT_EQ(tuner_kernel_from_text(kAxpy, "axpy", &axpy_), TUNER_OK) << tuner_last_error();
    }
    return axpy_;
  }

 private:
  tuner_kernel* axpy_ = nullptr;
};

/// A text of the interface, freed.
std::string taken(char* text) {
  std::string copy = text;
  tuner_text_free(text);
  return copy;
}

nlohmann::json parsed(const std::string& text) { return nlohmann::json::parse(text); }

/// What a call that failed with \p expected says.
std::string refusal(tuner_status status, tuner_status expected) {
  EXPECT_EQ(status, expected) << tuner_status_name(status);
  return tuner_last_error();
}

TEST_F(CInterface, ReducesWithEveryOperation) {
  const std::vector<double> values{3, -7, 2, 5};
  const std::pair<tuner_operation, double> cases[] = {
      {TUNER_SUM, 3}, {TUNER_MIN, -7}, {TUNER_MAX, 5}, {TUNER_PRODUCT, -210}};
  for (const auto& [operation, expected] : cases) {
    tuner_reduce_options options = TUNER_REDUCE_OPTIONS;
    options.operation = operation;
    double result = 0;
    EXPECT_EQ(tuner_reduce(TUNER_DOUBLE, values.data(), 4, &options, &result, sizeof result), TUNER_OK);
    EXPECT_EQ(result, expected);
  }
}

TEST_F(CInterface, LaunchesKernelsWithAnyNumberOfArguments) {
  for (const std::size_t count : {40u, 600u}) {
    const std::string name = "sum" + std::to_string(count);
    std::string lines, list, parameters, sum;
    std::vector<tuner_argument> arguments;
    std::vector<float> y(33);
    arguments.push_back(tuner_buffer(TUNER_FLOAT, y.data()));
    float wanted = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string one = "a" + std::to_string(i);
      lines += "#pragma tuner scalar " + one + " : double = 1\n";
      list += ", " + one;
      parameters += ", double " + one;
      sum += " + " + std::to_string(i % 7) + " * " + one;
      arguments.push_back(tuner_real(static_cast<double>(i % 5)));
      wanted += static_cast<float>((i % 7) * (i % 5));
    }
    const std::string text =
        "#pragma tuner kernel " + name +
        "\n#pragma tuner size n\n#pragma tuner parameter block = 32 64\n"
        "#pragma tuner out y[n] : float\n" +
        lines +
        "#pragma tuner grid ceil_div(n, block)\n#pragma tuner block block\n"
        "#pragma tuner arguments y" +
        list + ", n\n#pragma tuner instantiate " + name +
        "\n#pragma tuner default block=32\n#pragma tuner reference default\n"
        "__global__ void " +
        name + "(float* y" + parameters +
        ", int n) {\n  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = 0" + sum + ";\n}\n";
    tuner_kernel* kernel = nullptr;
    ASSERT_EQ(tuner_kernel_from_text(text.c_str(), (name + ".cu").c_str(), &kernel), TUNER_OK) << tuner_last_error();
    const std::int64_t n = 33;
    tuner_call call = TUNER_CALL;
    call.sizes = &n;
    call.size_count = 1;
    call.arguments = arguments.data();
    call.argument_count = arguments.size();
    for (int time = 0; time < 2; ++time) {
      std::fill(y.begin(), y.end(), -1.0f);
      EXPECT_EQ(tuner_kernel_launch(kernel, &call), TUNER_OK) << tuner_last_error();
      EXPECT_THAT(y, Each(wanted)) << count;
    }
    tuner_kernel_free(kernel);
  }
}

TEST_F(CInterface, PassesStructsByValue) {
  tuner_kernel* kernel = nullptr;
  ASSERT_EQ(tuner_kernel_from_text(R"(#pragma tuner kernel      weigh_in_c
#pragma tuner size        n
#pragma tuner parameter   block = 32 64
#pragma tuner out         y[n] : float
#pragma tuner scalar      pass = { 2, 1 }
#pragma tuner grid        ceil_div(n, block)
#pragma tuner block       block
#pragma tuner arguments   y, pass, n
#pragma tuner default     block=32
#pragma tuner reference   default
struct Pass { float factor; int shift; };
extern "C" __global__ void weigh_in_c(float* y, Pass pass, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = pass.factor * pass.shift;
}
)",
                                   "weigh_in_c.cu", &kernel),
            TUNER_OK)
      << tuner_last_error();
  struct {
    float factor;
    int shift;
  } pass = {1.5f, 4};
  std::vector<float> y(33);
  const tuner_argument arguments[] = {tuner_buffer(TUNER_FLOAT, y.data()), tuner_struct(&pass, sizeof pass)};
  const std::int64_t n = 33;
  tuner_call call = TUNER_CALL;
  call.sizes = &n;
  call.size_count = 1;
  call.arguments = arguments;
  call.argument_count = 2;
  EXPECT_EQ(tuner_kernel_launch(kernel, &call), TUNER_OK) << tuner_last_error();
  EXPECT_THAT(y, Each(6.0f));
  const tuner_argument none[] = {arguments[0], tuner_struct(nullptr, 8)};
  call.arguments = none;
  EXPECT_THAT(refusal(tuner_kernel_launch(kernel, &call), TUNER_INVALID_ARGUMENT), HasSubstr("a struct is null"));
  tuner_kernel_free(kernel);
}

TEST_F(CInterface, NamesTheTypeThatAReductionWrites) {
  const std::vector<std::int8_t> small(100'000, 127);
  ASSERT_EQ(tuner_reduce_result(TUNER_INT8), TUNER_INT64);
  std::int64_t result = 0;
  EXPECT_EQ(tuner_reduce(TUNER_INT8, small.data(), 100'000, nullptr, &result, sizeof result), TUNER_OK);
  EXPECT_EQ(result, 12'700'000);
  EXPECT_THAT(refusal(tuner_reduce(TUNER_INT8, small.data(), 1, nullptr, &result, 4), TUNER_INVALID_ARGUMENT),
              HasSubstr("the result has 8 bytes, not 4"));
}

TEST_F(CInterface, ReducesIntoMemoryOfTheDevice) {
  tuner_array *data = nullptr, *sum = nullptr;
  const std::vector<float> ones(5000, 1.0f);
  ASSERT_EQ(tuner_array_new(ones.size() * sizeof(float), &data), TUNER_OK);
  ASSERT_EQ(tuner_array_new(sizeof(float), &sum), TUNER_OK);
  ASSERT_EQ(tuner_array_upload(data, ones.data(), ones.size() * sizeof(float)), TUNER_OK);
  std::size_t workspace_bytes = 0;
  EXPECT_EQ(tuner_reduce_prepare(TUNER_FLOAT, tuner_array_data(data), 5000, nullptr, 0, &workspace_bytes), TUNER_OK);
  EXPECT_EQ(tuner_reduce_async(TUNER_FLOAT, tuner_array_data(data), 5000, tuner_array_data(sum), nullptr), TUNER_OK);
  float result = 0;
  EXPECT_EQ(tuner_array_download(sum, &result, sizeof result), TUNER_OK);
  EXPECT_EQ(result, 5000.0f);
  EXPECT_THAT(refusal(tuner_array_download(sum, &result, 8), TUNER_INVALID_ARGUMENT), HasSubstr("holds 4 bytes"));
  tuner_array_free(data);
  tuner_array_free(sum);
}

TEST_F(CInterface, AddsMatrices) {
  const std::vector<int> a(33, 2), b(33, 40);
  std::vector<int> c(33, 0);
  EXPECT_EQ(tuner_sum_matrix_2d(TUNER_INT32, a.data(), b.data(), c.data(), 11, 3, nullptr), TUNER_OK);
  EXPECT_THAT(c, Each(42));
}

TEST_F(CInterface, LaunchesAKernelWithArgumentsOfEveryKind) {
  const std::vector<float> x(100, 3.0f);
  std::vector<float> y(100, 1.0f);
  const std::int64_t n = 100;
  for (const tuner_argument& a : {tuner_real(2), tuner_signed(2), tuner_unsigned(2)}) {
    const tuner_argument arguments[] = {a, tuner_input(TUNER_FLOAT, x.data()), tuner_buffer(TUNER_FLOAT, y.data())};
    tuner_call call = TUNER_CALL;
    call.sizes = &n;
    call.size_count = 1;
    call.arguments = arguments;
    call.argument_count = 3;
    EXPECT_EQ(tuner_kernel_prepare(axpy(), &call, 0, nullptr), TUNER_OK) << tuner_last_error();
    EXPECT_EQ(tuner_kernel_launch(axpy(), &call), TUNER_OK) << tuner_last_error();
  }
  EXPECT_THAT(y, Each(19.0f));
}

TEST_F(CInterface, DescribesAKernel) {
  char* text = nullptr;
  ASSERT_EQ(tuner_kernel_json(axpy(), &text), TUNER_OK);
  const auto about = parsed(taken(text));
  EXPECT_EQ(about["name"], tuner_kernel_name(axpy()));
  EXPECT_EQ(about["sizes"][0]["default"], 1000);
  EXPECT_EQ(about["parameters"][0]["values"], (std::vector<std::string>{"32", "64", "96", "128", "160", "192"}));
  EXPECT_EQ(about["arguments"][1]["role"], "inout");
  EXPECT_EQ(about["arguments"][2]["name"], "a");
}

TEST_F(CInterface, ReadsWhatAKernelFileIsWrittenFrom) {
  const auto possible = [](const char* name) {
    char* text = nullptr;
    EXPECT_EQ(tuner_possible_name(name, &text), TUNER_OK);
    return taken(text);
  };
  EXPECT_EQ(possible("block"), "block");
  EXPECT_EQ(possible("unsigned"), "unsigned_");
  EXPECT_EQ(possible("warp_size"), "warp_size_");

  char* text = nullptr;
  ASSERT_EQ(tuner_kernel_parameters(kAxpy, "axpy", &text), TUNER_OK) << tuner_last_error();
  const nlohmann::json parameters = nlohmann::json::parse(taken(text));
  ASSERT_EQ(parameters.size(), 4u);
  EXPECT_EQ(parameters[1], nlohmann::json({{"name", "x"}, {"type", "const T*"}, {"is_const", true}}));
  EXPECT_EQ(parameters[2]["is_const"], false);
  EXPECT_EQ(tuner_kernel_parameters(kAxpy, "axpi", &text), TUNER_NOT_FOUND);
}

TEST_F(CInterface, TunesRunsAndExplains) {
  const std::int64_t n = 500;
  tuner_result* tuned = nullptr;
  std::size_t calls = 0;
  tuner_tune_options tuning = TUNER_TUNE_OPTIONS;
  tuning.on_trial = [](std::size_t, double, void* user) {
    ++*static_cast<std::size_t*>(user);
    return 0;
  };
  tuning.user = &calls;
  ASSERT_EQ(tuner_kernel_tune(axpy(), &n, 1, "T=double", &tuning, &tuned), TUNER_OK) << tuner_last_error();
  EXPECT_EQ(calls, 6u);
  EXPECT_EQ(parsed(tuner_result_json(tuned))["trials"], 6);
  const std::string best = tuner_result_configuration(tuned);
  double low = 0, high = 0;
  const double median = tuner_result_median_ns(tuned, &low, &high);
  EXPECT_TRUE(0 < low && low <= median && median <= high);
  tuner_result_free(tuned);

  char* sentence = nullptr;
  ASSERT_EQ(tuner_kernel_explain(axpy(), &n, 1, "T=double", &sentence), TUNER_OK);
  EXPECT_THAT(taken(sentence), StartsWith(best));

  std::int64_t elements[2] = {};
  std::size_t arrays = 0;
  ASSERT_EQ(tuner_kernel_elements(axpy(), &n, 1, "T=double", elements, 1, &arrays), TUNER_OK);
  EXPECT_THAT(elements, ElementsAre(n, 0)) << "no more than there is room for";
  EXPECT_EQ(arrays, 2u);

  tuner_run_options running = TUNER_RUN_OPTIONS;
  running.configuration = "block=128";
  running.without_verification = 1;
  tuner_result* ran = nullptr;
  ASSERT_EQ(tuner_kernel_run(axpy(), &n, 1, "T=double", &running, &ran), TUNER_OK) << tuner_last_error();
  EXPECT_STREQ(tuner_result_configuration(ran), "block=128");
  EXPECT_EQ(parsed(tuner_result_json(ran))["launches"][0]["block"][0], 128);
  tuner_result_free(ran);
}

TEST_F(CInterface, TakesTheUseOfAKernelByItsName) {
  const std::int64_t n = 500;
  tuner_result* result = nullptr;
  tuner_run_options running = TUNER_RUN_OPTIONS;
  running.use = "hot";
  ASSERT_EQ(tuner_kernel_run(axpy(), &n, 1, nullptr, &running, &result), TUNER_OK) << tuner_last_error();
  tuner_result_free(result);
  running.use = "graph";
  EXPECT_THAT(refusal(tuner_kernel_run(axpy(), &n, 1, nullptr, &running, &result), TUNER_INVALID_ARGUMENT),
              HasSubstr("has no streams and no graphs"));
  tuner_tune_options tuning = TUNER_TUNE_OPTIONS;
  tuning.use = "stream";
  EXPECT_THAT(refusal(tuner_kernel_tune(axpy(), &n, 1, nullptr, &tuning, &result), TUNER_INVALID_ARGUMENT),
              HasSubstr("has no streams and no graphs"));
  tuner_kernel* used = nullptr;
  EXPECT_THAT(refusal(tuner_kernel_used_as(axpy(), "grpah", &used), TUNER_INVALID_ARGUMENT),
              HasSubstr("unknown use 'grpah'; did you mean 'graph'?"));
  ASSERT_EQ(tuner_kernel_used_as(axpy(), "graph", &used), TUNER_OK);
  char* sentence = nullptr;
  ASSERT_EQ(tuner_kernel_explain(used, &n, 1, nullptr, &sentence), TUNER_OK);
  EXPECT_THAT(taken(sentence), HasSubstr("block="));
  tuner_kernel_free(used);
}

TEST_F(CInterface, TakesAnEffortByItsName) {
  const std::int64_t n = 450;
  tuner_tune_options tuning = TUNER_TUNE_OPTIONS;
  tuner_result* result = nullptr;
  tuning.effort = "quik";
  EXPECT_THAT(refusal(tuner_kernel_tune(axpy(), &n, 1, nullptr, &tuning, &result), TUNER_INVALID_ARGUMENT),
              HasSubstr("unknown effort 'quik'; did you mean 'quick'?"));
  for (const auto& [asked, is_known, has] :
       {std::tuple("none", true, "none"), std::tuple("thorough", false, "thorough"),
        std::tuple("quick", true, "thorough")}) {
    tuning.effort = asked;
    ASSERT_EQ(tuner_kernel_tune(axpy(), &n, 1, nullptr, &tuning, &result), TUNER_OK) << tuner_last_error();
    const nlohmann::json answer = parsed(tuner_result_json(result));
    EXPECT_EQ(answer["from_cache"], is_known) << asked;
    EXPECT_EQ(answer["effort"], has) << asked;
    tuner_result_free(result);
  }
  EXPECT_THAT(refusal(tuner_set("effort", "all"), TUNER_INVALID_ARGUMENT), HasSubstr("none, quick, normal, thorough"));
}

TEST_F(CInterface, StopsATuningWhenTheCallbackSaysSo) {
  const std::int64_t n = 600;
  tuner_tune_options tuning = TUNER_TUNE_OPTIONS;
  tuning.on_trial = [](std::size_t, double, void*) { return 1; };
  tuner_result* tuned = nullptr;
  ASSERT_EQ(tuner_kernel_tune(axpy(), &n, 1, nullptr, &tuning, &tuned), TUNER_OK) << tuner_last_error();
  EXPECT_LT(parsed(tuner_result_json(tuned))["trials"], 6);
  tuner_result_free(tuned);
}

TEST_F(CInterface, TunesSeveralSizesTogetherAndServesThoseBetween) {
  const std::int64_t sizes[] = {510, 4100, 33'000}, between = 12'000;
  tuner_tune_options tuning = TUNER_TUNE_OPTIONS;
  tuning.trials = 3;
  for (const bool is_known : {false, true}) {
    char* json = nullptr;
    ASSERT_EQ(tuner_kernel_tune_together(axpy(), sizes, 1, 3, "T=double", &tuning, &json), TUNER_OK)
        << tuner_last_error();
    const auto rule = parsed(taken(json));
    EXPECT_EQ(rule["from_cache"], is_known);
    EXPECT_EQ(rule["branches"].back()["condition"], "else");
    ASSERT_EQ(rule["choices"].size(), 3u);
    EXPECT_EQ(rule["choices"][1]["sizes"][0], 4100);
    EXPECT_GT(rule["choices"][1]["median_ns"], 0);
    EXPECT_TRUE(rule["between"].is_null() || rule["between"]["sizes"] == 1) << "one size can be left out";
  }
  char* sentence = nullptr;
  ASSERT_EQ(tuner_kernel_explain(axpy(), &between, 1, "T=double", &sentence), TUNER_OK) << tuner_last_error();
  EXPECT_THAT(taken(sentence), HasSubstr("the rule"));

  tuning.on_trial = [](std::size_t, double, void*) { return 1; };
  char* json = nullptr;
  ASSERT_EQ(tuner_kernel_tune_together(axpy(), sizes, 1, 3, "T=float", &tuning, &json), TUNER_OK) << tuner_last_error();
  EXPECT_TRUE(parsed(taken(json))["branches"].empty()) << "it was stopped";
  tuning.metrics = "energy";
  EXPECT_THAT(refusal(tuner_kernel_tune_together(axpy(), sizes, 1, 3, nullptr, &tuning, &json), TUNER_INVALID_ARGUMENT),
              HasSubstr("no metrics"));
}

TEST_F(CInterface, MovesWisdomBetweenDatabases) {
  const std::string folder = testing::cache_folder().string(), copy = folder + "/copy.db";
  const std::string union_ = folder + "/union.db", frozen = folder + "/frozen.db";
  const std::int64_t n = 700;
  tuner_result* tuned = nullptr;
  ASSERT_EQ(tuner_kernel_tune(axpy(), &n, 1, nullptr, nullptr, &tuned), TUNER_OK) << tuner_last_error();
  tuner_result_free(tuned);

  char* text = nullptr;
  ASSERT_EQ(tuner_wisdom_export(nullptr, "axpy", &text), TUNER_OK) << tuner_last_error();
  const std::string wisdom = taken(text);
  std::int64_t changed = 0;
  ASSERT_EQ(tuner_wisdom_import(copy.c_str(), wisdom.c_str(), "the test", &changed), TUNER_OK) << tuner_last_error();
  EXPECT_GE(changed, 1);
  const char* const one[] = {copy.c_str()};
  std::int64_t merged = 0;
  ASSERT_EQ(tuner_wisdom_merge(union_.c_str(), one, 1, &merged), TUNER_OK) << tuner_last_error();
  EXPECT_EQ(merged, changed);
  ASSERT_EQ(tuner_wisdom_freeze(frozen.c_str(), one, 1), TUNER_OK) << tuner_last_error();
  EXPECT_EQ(tuner_wisdom_freeze(frozen.c_str(), one, 1), TUNER_OK) << "a frozen file is replaced";
  EXPECT_THAT(refusal(tuner_wisdom_freeze(copy.c_str(), one, 1), TUNER_INVALID_ARGUMENT),
              HasSubstr("nothing was changed"));
  EXPECT_THAT(refusal(tuner_wisdom_import(copy.c_str(), "no wisdom\n", "the test", nullptr), TUNER_CACHE_ERROR),
              HasSubstr("the test:1"));
  const char* const missing[] = {"/nowhere/at/all.db"};
  EXPECT_THAT(refusal(tuner_wisdom_merge(union_.c_str(), missing, 1, nullptr), TUNER_NOT_FOUND),
              HasSubstr("no such database"));
}

TEST_F(CInterface, ChangesOneSettingAndKeepsTheOthers) {
  std::string told;
  ASSERT_EQ(
      tuner_on_warning([](const char* message, void* user) { *static_cast<std::string*>(user) = message; }, &told),
      TUNER_OK);
  EXPECT_EQ(tuner_set("tuning_time", "0.5s"), TUNER_OK);
  EXPECT_EQ(tuner_set("remember_misses", "false"), TUNER_OK);
  EXPECT_THAT(refusal(tuner_set("tune", "always"), TUNER_INVALID_ARGUMENT), HasSubstr("'never' or 'on_first_use'"));
  EXPECT_THAT(refusal(tuner_set("speed", "1"), TUNER_INVALID_ARGUMENT), HasSubstr("there is no setting 'speed'"));
  EXPECT_THAT(refusal(tuner_set("tuning_time", "-1"), TUNER_INVALID_ARGUMENT), HasSubstr("positive"));
  EXPECT_EQ(tuner_on_warning(nullptr, nullptr), TUNER_OK);
}

TEST_F(CInterface, HasAStatusForEachKindOfError) {
  tuner_kernel* kernel = nullptr;
  EXPECT_THAT(refusal(tuner_kernel_from_file("noSuchKernel", &kernel), TUNER_NOT_FOUND), HasSubstr("noSuchKernel"));
  EXPECT_THAT(refusal(tuner_kernel_from_text("#pragma tuner kernel", "mine", &kernel), TUNER_INVALID_KERNEL),
              HasSubstr("mine:1"));
  EXPECT_EQ(kernel, nullptr);
  EXPECT_EQ(tuner_kernel_with(axpy(), "T=int", &kernel), TUNER_INVALID_ARGUMENT);
  EXPECT_STREQ(tuner_status_name(TUNER_CACHE_ERROR), "cache error");
  EXPECT_STREQ(tuner_status_name(static_cast<tuner_status>(99)), "unknown status");
}

}  // namespace
}  // namespace tuner
