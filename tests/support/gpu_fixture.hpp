#pragma once
/// A fixture for tests on a GPU: skips without one, compiles a source, wraps device memory.

#include <tuner/backend/cuda/cuda_backend.hpp>
#include <tuner/backend/cuda/driver/driver.hpp>
#include <tuner/backend/cuda/driver/nvrtc.hpp>

#include <tests/support/testing.hpp>

namespace tuner::cuda {

/// One backend for the whole program: kernels are compiled once.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!driver_status().available) GTEST_SKIP() << "no usable GPU: " << driver_status().reason;
    if (find_nvrtc() == nullptr) GTEST_SKIP() << "no libnvrtc on this machine";
  }

  static Backend& backend() {
    static const std::unique_ptr<Backend> shared = make_cuda_backend();
    return *shared;
  }

  static CompileResult compile(const std::string& source, std::vector<std::string> expressions) {
    return backend().compiler().compile({source, "test.cu", std::move(expressions), {}, backend().architecture()});
  }

  /// Compiles and loads \p source; throws Error with the log when that fails.
  static std::unique_ptr<Module> load(const std::string& source, std::vector<std::string> expressions) {
    const CompileResult compiled = compile(source, std::move(expressions));
    if (const CompileError* error = std::get_if<CompileError>(&compiled))
      throw Error(error->message + "\n" + error->log);
    auto loaded = backend().load(std::get<Image>(compiled));
    if (const LaunchError* error = std::get_if<LaunchError>(&loaded)) throw Error(error->message);
    return std::get<std::unique_ptr<Module>>(std::move(loaded));
  }

  template <typename T>
  static std::unique_ptr<DeviceMemory> uploaded(const std::vector<T>& data) {
    auto memory = backend().allocate(data.size() * sizeof(T));
    backend().upload(memory->address(), data.data(), data.size() * sizeof(T));
    return memory;
  }

  template <typename T>
  static std::vector<T> contents(DevicePointer from, std::size_t count) {
    std::vector<T> data(count);
    backend().download(data.data(), from, count * sizeof(T));
    return data;
  }

  static Launch launch(const Module& module, std::size_t function, std::int64_t blocks, std::int64_t threads,
                       std::vector<Argument> arguments, std::int64_t shared_bytes = 0) {
    Launch ready;
    ready.module = &module;
    ready.function = function;
    ready.shape.grid[0] = blocks;
    ready.shape.block[0] = threads;
    ready.shape.shared_bytes = shared_bytes;
    ready.arguments = std::move(arguments);
    return ready;
  }

  /// Runs \p one and returns how it ended.
  static std::string run(const Launch& one, double timeout_s = 10) {
    return failure(backend().run({&one, 1}, timeout_s));
  }

  static std::string failure(const std::optional<Outcome>& outcome) {
    return outcome ? std::string(kind(*outcome)) + ": " + std::string(message(*outcome)) : "ok";
  }
};

}  // namespace tuner::cuda
