#pragma once
/// A fake backend that records what is enqueued, counts its memory, and can refuse to compile and to load.

#include <memory>
#include <set>
#include <string>
#include <vector>

#include <tests/support/fake_backend.hpp>

namespace tuner::testing {

class ServedCompiler final : public FakeCompiler {
 public:
  CompileResult compile(const CompileRequest& request) override {
    ++compiles;
    if (away) return CompileError{"it did not end", "", /*machine_fault=*/true};
    for (const std::string& expression : request.expressions)
      if (broken.count(expression) > 0) return CompileError{expression + " is broken", "line 1\nline 2"};
    return Image{{makes}, {}, {}};
  }

  std::set<std::string> broken = {};  // expressions
  bool away = false;                  // it does not run now
  std::byte makes{1};
  std::size_t compiles = 0;
};

class ServedModule final : public Module {
 public:
  Resources resources(std::size_t, const LaunchShape&) const override { return {}; }
};

class ServedBackend : public FakeBackend {
 public:
  struct Enqueued {
    std::size_t function = 0;
    LaunchShape shape;
    std::vector<std::uint64_t> parameters;  // the first 8 bytes of each
    void* stream = nullptr;
  };

  /// Images of the host are not kept, those of "cuda" are.
  explicit ServedBackend(const char* backend = "host") {
    device_ = {};
    device_.key.backend = backend;
  }
  ServedCompiler& compiler() override { return served_compiler_; }
  std::variant<std::unique_ptr<Module>, LaunchError> load(const Image& image) override {
    if (!loads_images || (!image.code.empty() && image.code[0] == refuses)) return LaunchError{"it is full"};
    return std::make_unique<ServedModule>();
  }
  std::unique_ptr<DeviceMemory> allocate(std::size_t bytes) override {
    if (*in_use + bytes > room) throw Error("out of memory");
    ++allocations;
    return std::make_unique<FakeMemory>(bytes, in_use);
  }
  void enqueue(const Module&, std::size_t function, const LaunchShape& shape, void* const* parameters,
               void* stream) override {
    Enqueued entry{function, shape, {}, stream};
    for (std::size_t i = 0; i < parameters_per_launch; ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, parameters[i], parameter_bytes.empty() ? 8 : parameter_bytes[i]);
      entry.parameters.push_back(bits);
    }
    enqueued.push_back(entry);
  }

  std::vector<Enqueued> enqueued;
  std::size_t parameters_per_launch = 0;
  std::vector<std::size_t> parameter_bytes;
  std::size_t allocations = 0;
  bool loads_images = true;
  std::byte refuses{0};  // images that begin with it

 private:
  ServedCompiler served_compiler_;
};

}  // namespace tuner::testing
