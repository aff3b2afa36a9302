#pragma once
/// What stands behind a tuner::Kernel.

#include <memory>
#include <string>

#include <tuner/kernel.hpp>
#include <tuner/runtime/plan_table.hpp>

namespace tuner {

struct Kernel::Impl {
  std::shared_ptr<const KernelSpec> spec;
  Choices choices;
  runtime::PlanTable plans;

  /// See Kernel. launch() serves from the plans, prepare() answers with the work space of the call's plan.
  void launch(const runtime::Call& call);
  std::size_t prepare(const runtime::Call& call, std::size_t captures);

 private:
  /// A plan for \p call, made now. Kept unless the table is full or the decision is one for now: then \p unkept owns
  /// it.
  const runtime::Plan& new_plan(const runtime::PlanKey& key, const ContextName& context, const runtime::Call& call,
                                bool outputs, std::unique_ptr<runtime::Plan>& unkept);
  void check_pointers(const ContextName& context, const runtime::Call& call) const;
};

/// For the other files of this room.
class KernelAccess {
 public:
  static Kernel::Impl& impl(const Kernel& kernel) { return *kernel.impl_; }
};

}  // namespace tuner
