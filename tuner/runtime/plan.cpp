#include <tuner/runtime/plan.hpp>

#include <tuner/core/error.hpp>
#include <tuner/measure/bound_arguments.hpp>

namespace tuner::runtime {
namespace {

void store_argument(std::byte* to, ElementType type, const detail::LaunchArgument& number) {
  using Number = detail::LaunchArgument::Kind;
  const bool stored = number.kind == Number::floating ? store_number(to, type, number.number)
                      : number.kind == Number::signed_integer
                          ? store_number(to, type, static_cast<std::int64_t>(number.integer))
                          : store_number(to, type, number.integer);
  if (stored) return;
  const std::string text = number.kind == Number::floating ? std::to_string(number.number)
                           : number.kind == Number::signed_integer
                               ? std::to_string(static_cast<std::int64_t>(number.integer))
                               : std::to_string(number.integer);
  throw Error("the kernel takes a number as " + std::string(info(type).name) + ", which cannot hold " + text);
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
          store_number(values_[i], source.type, call.sizes[source.index]);  // it fits: a condition of every plan
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

std::int64_t& extent(LaunchShape& shape, std::size_t which) {
  return which < 3 ? shape.grid[which] : which < 6 ? shape.block[which - 3] : shape.shared_bytes;
}

}  // namespace

Plan::Plan(Backend& backend, DeviceLimits limits, PlanParts parts)
    : backend_(backend), limits_(limits), parts_(std::move(parts)) {}

bool Plan::admits(const Sizes& sizes, Shapes& shapes) const {
  if (parts_.only && !(*parts_.only == sizes)) return false;
  for (const SizeCondition& condition : parts_.conditions) {
    const std::optional<std::int64_t> value = condition.value.evaluate(sizes.data());
    if (!value) return false;
    const std::int64_t judged = condition.truth ? *value != 0 : *value;
    if (judged < condition.low || judged > condition.high) return false;
  }
  for (std::size_t i = 0; i < parts_.launches.size(); ++i) {
    const PlannedLaunch& launch = parts_.launches[i];
    shapes[i] = launch.shape;
    for (const SizedExtent& sized : launch.sized) {
      const std::optional<std::int64_t> value = sized.value.evaluate(sizes.data());
      if (!value) return false;
      extent(shapes[i], sized.extent) = *value;
    }
    if (launch.may_exceed && violated_limit(shapes[i], limits_)) return false;
  }
  return true;
}

void Plan::launch(const Call& call, const Shapes& shapes, const WorkSpace& work) const {
  for (std::size_t i = 0; i < parts_.launches.size(); ++i) {
    const PlannedLaunch& launch = parts_.launches[i];
    const Parameters parameters(launch, call, work);
    backend_.enqueue(*launch.module, launch.function, shapes[i], parameters.get(), call.stream.handle());
  }
}

}  // namespace tuner::runtime
