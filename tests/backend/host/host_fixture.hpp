#pragma once
/// Shared by the host backend's tests: compiles kernels written in the test and runs them.

#include <stdexcept>
#include <variant>

#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>
#include <tuner/backend/host/host_backend.hpp>

namespace tuner::host_test {

using testing::TemporaryFolder;

/// Without a cache of compiled objects.
inline HostOptions uncached_options(int threads = 0) {
  HostOptions options;
  options.cache_objects = false;
  if (threads > 0) options.threads = threads;
  return options;
}

/// One backend for all tests of a program: threads and stacks are made once. Objects are cached for its life only.
template <unsigned threads = 2>
Backend& backend() {
  static const TemporaryFolder cache;
  static const std::unique_ptr<Backend> instance = [] {
    HostOptions options;
    options.cache_directory = cache.path();
    options.threads = threads;
    return make_host_backend(options);
  }();
  return *instance;
}

inline CompileRequest request(std::string source, std::vector<std::string> expressions) {
  return {std::move(source), "test.cu", std::move(expressions), {"TUNER=1"}, "host"};
}

/// Throws what the compiler says where it fails.
inline Image image(const CompileResult& compiled) {
  if (const auto* error = std::get_if<CompileError>(&compiled))
    throw std::runtime_error(error->message + "\n" + error->log);
  return std::get<Image>(compiled);
}

inline std::unique_ptr<Module> load(const CompileResult& compiled, Backend& on = backend()) {
  auto loaded = on.load(image(compiled));
  if (const auto* error = std::get_if<LaunchError>(&loaded)) throw std::runtime_error(error->message);
  return std::move(std::get<0>(loaded));
}

inline std::unique_ptr<Module> load(const std::string& source, const std::vector<std::string>& expressions,
                                    Backend& on = backend()) {
  return load(on.compiler().compile(request(source, expressions)), on);
}

inline LaunchShape shape(std::int64_t grid, std::int64_t block, std::int64_t shared = 0) {
  return {{grid, 1, 1}, {block, 1, 1}, shared};
}

template <typename... A>
std::optional<Outcome> launch(const Module& module, std::size_t function, const LaunchShape& at, double timeout_s,
                              Backend& on, const A&... arguments) {
  const Launch one{&module, function, at, {Argument::of(arguments)...}};
  return on.run({&one, 1}, timeout_s);
}

/// Compiles \p source, runs its function \p expression and gives what went wrong, or nothing.
template <typename... A>
std::optional<Outcome> run(const std::string& source, const std::string& expression, const LaunchShape& at,
                           const A&... arguments) {
  const std::unique_ptr<Module> module = load(source, {expression});
  return launch(*module, 0, at, 20, backend(), arguments...);
}

/// The message of a failed compilation, and its log; empty if it succeeded.
inline std::string why_not(const CompileResult& result) {
  const auto* error = std::get_if<CompileError>(&result);
  return error != nullptr ? error->message + '\n' + error->log : "";
}

inline std::string text(const std::optional<Outcome>& outcome) {
  return outcome ? std::string(kind(*outcome)) + ": " + std::string(message(*outcome)) : std::string("done");
}

/// Runs the function \p expression of \p source on \p count zeros, and returns the numbers that it leaves there.
template <typename T, typename... A>
std::vector<T> outputs(std::size_t count, const std::string& source, const std::string& expression,
                       const LaunchShape& at, const A&... more) {
  std::vector<T> out(count);
  EXPECT_EQ(text(run(source, expression, at, out.data(), more...)), "done");
  return out;
}

/// As outputs() of one number.
template <typename T, typename... A>
T output(const std::string& source, const std::string& expression, const LaunchShape& at, const A&... more) {
  return outputs<T>(1, source, expression, at, more...).front();
}

}  // namespace tuner::host_test
