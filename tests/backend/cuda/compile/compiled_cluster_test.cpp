#include <tuner/backend/cuda/compile/compiled_cluster.hpp>

#include <array>
#include <cstring>

#include <tests/backend/cuda/nvrtc_fixture.hpp>

namespace tuner::cuda {
namespace {

using Extents = std::array<std::int64_t, 3>;

class CompiledCluster : public NvrtcTest {
 protected:
  /// The clusters of kernels without, with three and with one extent.
  std::vector<Extents> clusters(const char* architecture) const {
    CompileRequest request;
    request.source =
        "__global__ void plain(int* p) { *p = 1; }\n"
        "__global__ void __cluster_dims__(2, 4, 1) __launch_bounds__(128) three(int* p) { *p = 1; }\n"
        "__global__ void __cluster_dims__(8) one(int* p) { *p = 1; }\n";
    request.expressions = {"plain", "three", "one"};
    request.architecture = architecture;
    const Image compiled = image(compiler_->compile(request));
    std::vector<Extents> all;
    for (const CompiledFunction& one : compiled.functions) all.push_back(compiled_cluster(compiled.code, one.symbol));
    return all;
  }
};

TEST_F(CompiledCluster, IsReadFromMachineCode) {
  for (const char* const architecture : {"sm_90", "sm_100"})
    EXPECT_EQ(clusters(architecture), (std::vector<Extents>{{0, 0, 0}, {2, 4, 1}, {8, 1, 1}})) << architecture;
}

TEST_F(CompiledCluster, IsNotReadFromPtx) { EXPECT_EQ(clusters("compute_90"), std::vector<Extents>(3)); }

TEST(CompiledClusters, OfBytesThatAreNoMachineCodeAreNone) {
  std::vector<std::byte> code(200, std::byte{0xff});
  EXPECT_EQ(compiled_cluster(code, "kernel"), Extents{});
  std::memcpy(code.data(), "\177ELF\2", 5);
  EXPECT_EQ(compiled_cluster(code, "kernel"), Extents{});
  EXPECT_EQ(compiled_cluster({}, "kernel"), Extents{});
}

}  // namespace
}  // namespace tuner::cuda
