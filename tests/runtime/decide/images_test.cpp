// Served from images alone: on the bookkeeping driver (fake_libcuda.cpp), in a process that finds no NVRTC.

#include <filesystem>

#include <cache/query/image_files.hpp>
#include <cache/query/session.hpp>

#include <tuner/backend/cuda/driver/context.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/measure/expressions.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/wisdom/kept_images.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>
#include <tuner/tuner.hpp>

#include <tests/runtime/serving_environment.hpp>

namespace tuner {
namespace {

using cuda::check;
using cuda::driver;
using testing::code_of;

class ImagesAlone : public testing::ServingEnvironment {
 protected:
  ImagesAlone() : ServingEnvironment("auto", "never") {
    ::setenv("TUNER_DB_PATH", shipped().c_str(), 1);
    CUcontext context = nullptr;
    check(driver().cuDevicePrimaryCtxRetain(&context, 0), "retain");
    check(driver().cuCtxPushCurrent(context), "cuCtxPushCurrent");
    check(driver().cuMemAlloc(&memory_, 4096), "cuMemAlloc");
  }
  ~ImagesAlone() override {
    CUcontext context = nullptr;
    driver().cuMemFree(memory_);
    driver().cuCtxPopCurrent(&context);
  }

  /// As long as the process, which looks there for wisdom once.
  static const std::filesystem::path& shipped() {
    static const testing::TemporaryFolder folder;
    return folder.path();
  }

  /// The driver looks at four parameters of eight bytes.
  static Kernel kernel(const std::string& name) {
    return testing::kernel_named(name, R"(#pragma tuner kernel NAME
#pragma tuner size n : uint64
#pragma tuner parameter block = 32 64
#pragma tuner default block=32
#pragma tuner out y[n] : float
#pragma tuner grid max(1, ceil_div(n, block))
#pragma tuner block block
#pragma tuner arguments y, n, n, n
#pragma tuner instantiate NAME<block>
template <int block> __global__ void NAME(float* y, unsigned long long, unsigned long long, unsigned long long) {}
)");
  }

  CompileRequest request(const Kernel& kernel, const std::string& architecture, const char* configuration) {
    return call_request(kernel.spec(), complete(kernel.spec(), {{{"n", 100}}, {}}), device_.limits, architecture,
                        Configuration::parse(configuration));
  }

  void ship(const Kernel& kernel, const std::string& architecture, const char* configuration = "block=32",
            std::string target = {}) {
    const CompileRequest made_of = request(kernel, architecture, configuration);
    Image image;
    image.code.resize(16);
    image.functions.push_back({made_of.expressions.front(), "symbol", {.target = std::move(target)}});
    ship_image(shipped(), made_of, "cuda", image);
  }

  void launch(const Kernel& kernel) { kernel.launch(nullptr, {100}, reinterpret_cast<float*>(memory_)); }

  const Device device_ = find_device("cuda");
  CUdeviceptr memory_ = 0;
  const testing::CollectedWarnings warnings_;
};

TEST_F(ImagesAlone, ServeWhatTheyAreOf) {
  const Kernel shipped = kernel("shipped");
  ship(shipped, "sm_90");
  launch(shipped);
  EXPECT_THAT(warnings_.texts, IsEmpty());
}

TEST_F(ImagesAlone, LeaveTheRestToACompilerAndSayHowToGetOne) {
  const Kernel missing = kernel("missing");
  EXPECT_THAT(error_of([&] { launch(missing); }),
              HasSubstr("missing.cu: no image for sm_90 is shipped or kept, and there is no compiler: NVRTC"));
  EXPECT_EQ(code_of([&] { launch(missing); }), ErrorCode::compiler);
}

TEST_F(ImagesAlone, ServeAsPtxOfAnEarlierChip) {
  const Kernel earlier = kernel("earlier"), later = kernel("later");
  ship(earlier, "compute_80");
  launch(earlier);
  ship(later, "compute_100");
  EXPECT_THAT(error_of([&] { launch(later); }), HasSubstr("no image for sm_90"));
}

TEST_F(ImagesAlone, AreNotServedIfTheyAreForAnotherChipAlone) {
  const Kernel here = kernel("here"), elsewhere = kernel("elsewhere");
  ship(here, "sm_90", "block=32", "sm_90a");
  launch(here);
  ship(elsewhere, "compute_80", "block=32", "compute_80a");
  EXPECT_THAT(error_of([&] { launch(elsewhere); }), HasSubstr("no image for sm_90"));
  EXPECT_THAT(warnings_.texts, IsEmpty());
}

TEST_F(ImagesAlone, ArePassedOverWhereTheyAreDamaged) {
  const Kernel broken = kernel("broken");
  ship(broken, "sm_90");
  ship(broken, "compute_80");
  testing::write_file(
      cache::image_file(shipped(), "sm_90", served_image_name(request(broken, "sm_90", "block=32"), "cuda")),
      "no image");
  launch(broken);
  EXPECT_THAT(warnings_.texts, Contains(HasSubstr("a compiled image is ignored")));
}

TEST_F(ImagesAlone, ServeTheDefaultWhereTheBestThatIsKnownHasNone) {
  const Kernel known = kernel("known");
  ship(known, "sm_90", "block=32");
  {
    cache::Database database = cache::Database::open_user(testing::cache_folder() / "wisdom.db");
    const ProblemSize size = complete(known.spec(), {{{"n", 100}}, {}});
    testing::store_best(database, context_of(known.spec(), size, device_, {}), "block=64");
  }
  launch(known);
  EXPECT_THAT(warnings_.texts,
              Contains(HasSubstr("kernel 'known': block=64, the best known configuration, cannot be used here")));
}

}  // namespace
}  // namespace tuner
