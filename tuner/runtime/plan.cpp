#include <tuner/runtime/plan.hpp>

#include <tuner/core/error.hpp>
#include <tuner/measure/bound_arguments.hpp>

namespace tuner::runtime {
namespace {

void store_argument(std::byte* to, ElementType type, const detail::LaunchArgument& argument) {
  const auto store = [&](auto number) {
    if (store_number(to, type, number)) return;
    throw Error("the kernel takes a number as " + std::string(info(type).name) + ", which cannot hold " +
                std::to_string(number));
  };
  using Number = detail::LaunchArgument::Kind;
  if (argument.kind == Number::floating) return store(argument.number);
  if (argument.kind == Number::unsigned_integer) return store(argument.integer);
  store(static_cast<std::int64_t>(argument.integer));
}

/// The parameters of one launch as the driver takes them: a pointer to each.
class Parameters {
 public:
  Parameters(const PlannedLaunch& launch, const Call& call, const WorkSpace& work) {
    using From = ParameterSource::Kind;
    for (std::size_t i = 0; i < launch.parameters.size(); ++i) {
      const ParameterSource& source = launch.parameters[i];
      pointers_[i] = values_[i];
      switch (source.kind) {
        case From::constant:  // the driver only reads
          pointers_[i] = const_cast<std::byte*>(source.constant.bytes);
          break;
        case From::pointer:
          pointers_[i] = const_cast<const void**>(&call.arguments[source.index].pointer);
          break;
        case From::number:
          store_argument(values_[i], source.type, call.arguments[source.index]);
          break;
        case From::size:
          store_number(values_[i], source.type,
                       call.sizes[source.index]);  // it fits: integer types end where classes do
          break;
        case From::zeroed:
          put(i, work.zeroed + source.index);
          break;
        case From::scratch:
          put(i, work.scratch + source.index);
          break;
      }
    }
  }
  void* const* get() const { return pointers_; }

 private:
  void put(std::size_t i, DevicePointer address) { __builtin_memcpy(values_[i], &address, sizeof address); }

  void* pointers_[kMaxParameters];
  alignas(8) std::byte values_[kMaxParameters][8];
};

}  // namespace

void Plan::launch(const Call& call, const Shapes& shapes, const WorkSpace& space) const {
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const Parameters parameters(launches[i], call, space);
    backend.enqueue(*module, launches[i].function, shapes[i], parameters.get(), call.stream.handle());
  }
}

}  // namespace tuner::runtime
