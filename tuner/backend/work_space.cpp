#include <tuner/backend/work_space.hpp>

#include <algorithm>
#include <bit>
#include <thread>
#include <utility>

#include <tuner/core/error.hpp>

namespace tuner {

struct WorkSpaces::Loan {
  Owned owned;
  std::shared_ptr<Reserve> home;  // while lent

  static void give_back(void* loan);
};

struct WorkSpaces::Reserve {
  std::mutex mutex;
  std::vector<std::unique_ptr<Loan>> all;
  std::vector<Loan*> free;  // capacity for all: giving back allocates nothing
};

void WorkSpaces::Loan::give_back(void* loan) {
  Loan* const returned = static_cast<Loan*>(loan);
  const std::shared_ptr<Reserve> home = std::move(returned->home);
  const std::lock_guard lock(home->mutex);
  home->free.push_back(returned);
}

WorkSpaces::WorkSpaces(Backend& backend, const ContextName& context)
    : backend_(backend), context_(context), reserve_(std::make_shared<Reserve>()) {}

WorkSpaces::Owned WorkSpaces::allocate(const WorkNeed& need) const {
  // Rounded up, so that growing needs seldom ask again.
  const auto rounded = [](std::size_t bytes) {
    return bytes == 0 ? 0 : std::bit_ceil(std::max(bytes, kWorkAlignment));
  };
  Owned owned;
  owned.size = {rounded(need.zeroed), rounded(need.scratch)};
  owned.memory = backend_.allocate(owned.size.zeroed + owned.size.scratch);
  owned.space = {owned.memory->address(), owned.memory->address() + owned.size.zeroed};
  // An upload is done when it returns, on whatever stream the launch will be.
  const std::vector<std::byte> zeros(owned.size.zeroed);
  if (!zeros.empty()) backend_.upload(owned.space.zeroed, zeros.data(), zeros.size());
  return owned;
}

/// The slot of \p stream, entered, when it has a space that is large enough.
WorkSpaces::Slot* WorkSpaces::find(std::uint64_t stream, const WorkNeed& need) {
  for (std::size_t i = stream * 0x9e3779b97f4a7c15u >> 40;; ++i) {
    Slot& slot = slots_[i % slots_.size()];
    const std::uint64_t owner = slot.stream.load();
    if (owner == 0) return nullptr;
    if (owner != stream) continue;
    slot.users.fetch_add(1);
    // Entered before it was recycled, or not at all: recycle() clears the stream first and waits for the users then.
    if (slot.stream.load() == stream && need.within(slot.owned.load()->size)) return &slot;
    slot.users.fetch_sub(1);
    return nullptr;
  }
}

WorkSpaces::Slot* WorkSpaces::enter(std::uint64_t stream, const WorkNeed& need) {
  if (Slot* known = find(stream, need)) return known;
  const BesideCaptures allowed(context_);
  const std::lock_guard lock(growing_);
  if (Slot* known = find(stream, need)) return known;
  prepare_captures(need, kCapturesUnasked);
  std::size_t i = stream * 0x9e3779b97f4a7c15u >> 40;
  const auto at = [&]() -> Slot& { return slots_[i % slots_.size()]; };
  while (at().stream.load() != 0 && at().stream.load() != stream) ++i;
  if (at().stream.load() == 0 && streams_ == kMaxStreams) {
    recycle();
    i = stream * 0x9e3779b97f4a7c15u >> 40;
  }
  const auto fits = std::find_if(idle_.begin(), idle_.end(), [&](const auto& idle) { return need.within(idle->size); });
  if (fits != idle_.end()) {
    in_use_.push_back(std::move(*fits));
    idle_.erase(fits);
  } else {
    WorkNeed enough = need;
    if (at().stream.load() == stream) {  // what it has outgrown may be in use by launches: kept until recycle()
      const WorkNeed& before = at().owned.load()->size;
      enough = {std::max(need.zeroed, before.zeroed), std::max(need.scratch, before.scratch)};
    }
    in_use_.push_back(std::make_unique<Owned>(allocate(enough)));
  }
  at().owned.store(in_use_.back().get());
  at().users.fetch_add(1);
  if (at().stream.exchange(stream) == 0) ++streams_;
  return &at();
}

/// Takes all spaces back from their streams. Nobody enters a slot meanwhile without growing_.
void WorkSpaces::recycle() {
  for (Slot& slot : slots_) slot.stream.store(0);
  for (Slot& slot : slots_) {
    while (slot.users.load() != 0) std::this_thread::yield();  // they are enqueuing
  }
  streams_ = 0;
  wait_for_all(context_);
  for (auto& owned : in_use_) idle_.push_back(std::move(owned));
  in_use_.clear();
  // The largest are worth keeping; what streams outgrew would pile up otherwise.
  std::sort(idle_.begin(), idle_.end(), [](const auto& a, const auto& b) {
    return a->size.scratch + a->size.zeroed > b->size.scratch + b->size.zeroed;
  });
  if (idle_.size() > kMaxStreams) idle_.resize(kMaxStreams);
}

WorkSpaces::Lease::Lease(WorkSpaces& owner, std::uint64_t stream, const WorkNeed& need)
    : slot_(owner.enter(stream, need)) {
  while (slot_->in_turn.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  space_ = slot_->owned.load()->space;
}

WorkSpaces::Lease::~Lease() {
  slot_->in_turn.clear(std::memory_order_release);
  slot_->users.fetch_sub(1);
}

void WorkSpaces::prepare(std::uint64_t stream, const WorkNeed& need, std::size_t captures) {
  const BesideCaptures allowed(context_);
  enter(stream, need)->users.fetch_sub(1);
  const std::lock_guard lock(growing_);
  prepare_captures(need, captures);
}

void WorkSpaces::prepare_captures(const WorkNeed& need, std::size_t count) {
  if (is_host(context_)) return;
  std::size_t missing = count;
  {
    const std::lock_guard lock(reserve_->mutex);
    for (const Loan* loan : reserve_->free) missing -= missing > 0 && need.within(loan->owned.size);
  }
  for (; missing > 0; --missing) {
    auto loan = std::make_unique<Loan>();
    loan->owned = allocate(need);
    const std::lock_guard lock(reserve_->mutex);
    reserve_->free.reserve(reserve_->all.size() + 1);
    reserve_->free.push_back(loan.get());
    reserve_->all.push_back(std::move(loan));
  }
}

std::optional<WorkSpace> WorkSpaces::lend(void* graph, const WorkNeed& need) {
  Loan* loan = nullptr;
  {
    const std::lock_guard lock(reserve_->mutex);
    auto& free = reserve_->free;
    const auto fits = std::find_if(free.begin(), free.end(), [&](const Loan* l) { return need.within(l->owned.size); });
    if (fits == free.end()) return std::nullopt;
    loan = *fits;
    free.erase(fits);
    loan->home = reserve_;
  }
  try {
    keep_until_destroyed(graph, &Loan::give_back, loan);
  } catch (...) {
    Loan::give_back(loan);
    throw;
  }
  return loan->owned.space;
}

WorkSpace WorkSpaces::lay_out(std::string_view kernel, void* memory, std::size_t bytes, const WorkNeed& need,
                              void* stream) const {
  const auto address = reinterpret_cast<DevicePointer>(memory);
  if (bytes < need.bytes() || address % kWorkAlignment != 0) {
    throw Error(ErrorCode::invalid_argument,
                "kernel '" + std::string(kernel) + "' needs " + std::to_string(need.bytes()) +
                    " bytes of work space at a multiple of " + std::to_string(kWorkAlignment) + "; the call brings " +
                    std::to_string(bytes));
  }
  if (need.zeroed > 0) backend_.fill_on(address, 0, need.zeroed, stream);
  return {address, address + need.zeroed};
}

}  // namespace tuner
