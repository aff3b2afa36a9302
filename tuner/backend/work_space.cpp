#include <tuner/backend/work_space.hpp>

#include <algorithm>
#include <bit>
#include <iterator>
#include <thread>
#include <utility>

#include <tuner/error.hpp>

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

WorkSpaces::Owned WorkSpaces::allocate_now(const WorkNeed& need) const {
  // Rounded up, so that growing needs seldom allocate again.
  const auto rounded = [](std::size_t bytes) {
    return bytes == 0 ? 0 : std::bit_ceil(std::max(bytes, kWorkAlignment));
  };
  Owned owned;
  owned.size = {rounded(need.zeroed), rounded(need.scratch)};
  owned.memory = backend_.allocate(owned.size.bytes());
  owned.space = {owned.memory->address(), owned.memory->address() + owned.size.zeroed};
  // An upload is complete when it returns, so it is before a launch on any stream.
  const std::vector<std::byte> zeros(owned.size.zeroed);
  if (!zeros.empty()) backend_.upload(owned.space.zeroed, zeros.data(), zeros.size());
  return owned;
}

/// If memory is short, frees unused spaces and tries again.
WorkSpaces::Owned WorkSpaces::allocate(const WorkNeed& need) {
  try {
    return allocate_now(need);
  } catch (const Error&) {
    if (!backend_.usable()) throw;
  }
  give_back_unused();
  return allocate_now(need);
}

std::unique_ptr<WorkSpaces::Owned> WorkSpaces::obtain(const WorkNeed& need) {
  if (retired_.size() >= kMaxRetired || retired_bytes_ > kMaxRetiredBytes) settle();
  const auto fits =
      std::find_if(idle_.rbegin(), idle_.rend(), [&](const auto& idle) { return need.within(idle->size); });
  if (fits == idle_.rend()) return std::make_unique<Owned>(allocate(need));
  std::unique_ptr<Owned> space = std::move(*fits);
  idle_.erase(std::next(fits).base());
  return space;
}

/// The slot of the stream at \p place, or the free slot that it would get.
WorkSpaces::Slot& WorkSpaces::slot_of(std::uint64_t place) {
  for (std::size_t i = place * 0x9e3779b97f4a7c15u >> 40;; ++i) {
    Slot& slot = slots_[i % slots_.size()];
    const std::uint64_t taken = slot.place.load();
    if (taken == 0 || taken == place) return slot;
  }
}

/// Enters the slot of \p stream if its space is large enough; otherwise returns null.
WorkSpaces::Slot* WorkSpaces::find(const StreamName& stream, const WorkNeed& need) {
  Slot& slot = slot_of(stream.place);
  slot.users.fetch_add(1);
  // retire() clears the id before it waits for the users. So this call either enters before the space is taken away, or
  // sees the cleared id.
  if (slot.id.load() == stream.id && need.within(slot.owned->size)) return &slot;
  slot.users.fetch_sub(1);
  return nullptr;
}

WorkSpaces::Slot& WorkSpaces::enter(const StreamName& stream, const WorkNeed& need) {
  if (Slot* known = find(stream, need)) return *known;
  const BesideCaptures allowed(context_);
  const std::lock_guard lock(growing_);
  if (Slot* known = find(stream, need)) return *known;
  if (slot_of(stream.place).place.load() == 0 && streams_ == kMaxStreams) {
    take_all();
    settle();
  }
  Slot& slot = slot_of(stream.place);
  WorkNeed enough = need;
  if (slot.id.load() == stream.id) {
    const WorkNeed& before = slot.owned->size;
    enough = {std::max(need.zeroed, before.zeroed), std::max(need.scratch, before.scratch)};
  }
  std::unique_ptr<Owned> space = obtain(enough);
  retire(slot);  // too small now, or of a destroyed stream
  slot.owned = std::move(space);
  slot.users.fetch_add(1);
  slot.id.store(stream.id);
  if (slot.place.exchange(stream.place) == 0) ++streams_;
  return slot;
}

void WorkSpaces::retire(Slot& slot) {
  slot.id.store(0);
  while (slot.users.load() != 0) std::this_thread::yield();  // they are enqueuing
  if (!slot.owned) return;
  retired_bytes_ += slot.owned->size.bytes();
  retired_.push_back(std::move(slot.owned));
}

/// Takes all spaces back from their streams. The caller holds growing_, so that no stream gets one meanwhile.
void WorkSpaces::take_all() {
  for (Slot& slot : slots_) retire(slot);
  for (Slot& slot : slots_) slot.place.store(0);
  streams_ = 0;
}

/// Waits for all launches. After that any stream can use the retired spaces.
void WorkSpaces::settle() {
  wait_for_all(context_);
  for (auto& space : retired_) idle_.push_back(std::move(space));
  retired_.clear();
  retired_bytes_ = 0;
  // Keeps only the largest: otherwise, spaces that became too small would pile up.
  std::sort(idle_.begin(), idle_.end(), [](const auto& a, const auto& b) { return a->size.bytes() > b->size.bytes(); });
  std::size_t kept = 0, bytes = 0;
  while (kept < idle_.size() && (kept < kMaxStreams || bytes < kMaxRetiredBytes)) bytes += idle_[kept++]->size.bytes();
  idle_.resize(kept);
}

/// Frees the spaces that belong to no stream and no graph.
void WorkSpaces::give_back_unused() {
  settle();
  idle_.clear();
  std::vector<std::unique_ptr<Loan>> unused;  // freed without the lock: freeing waits for work that may wait for it
  const std::lock_guard lock(reserve_->mutex);
  for (std::unique_ptr<Loan>& loan : reserve_->all)
    if (std::count(reserve_->free.begin(), reserve_->free.end(), loan.get()) > 0) unused.push_back(std::move(loan));
  std::erase(reserve_->all, nullptr);
  reserve_->free.clear();
}

void WorkSpaces::trim() {
  const BesideCaptures allowed(context_);
  const std::lock_guard lock(growing_);
  take_all();
  give_back_unused();
}

WorkSpaces::Lease::Lease(WorkSpaces& owner, const StreamName& stream, const WorkNeed& need)
    : owner_(owner), slot_(owner.enter(stream, need)) {
  while (slot_.in_turn.test_and_set(std::memory_order_acquire)) slot_.in_turn.wait(true, std::memory_order_relaxed);
}

WorkSpaces::Lease::~Lease() {
  slot_.in_turn.clear(std::memory_order_release);
  if (slot_.users.fetch_sub(1) > 1) slot_.in_turn.notify_one();  // a thread that waits is a user too
}

void WorkSpaces::Lease::clear(void* stream) noexcept {
  const Owned& owned = *slot_.owned;
  try {
    if (owned.size.zeroed > 0) owner_.backend_.fill_on(owned.space.zeroed, 0, owned.size.zeroed, stream);
  } catch (const std::exception&) {  // the context is lost: nothing more is launched in it
  }
}

void WorkSpaces::prepare(const StreamName& stream, const WorkNeed& need, std::size_t captures, std::size_t known) {
  const BesideCaptures allowed(context_);
  enter(stream, need).users.fetch_sub(1);
  if (is_host(context_)) return;
  const std::lock_guard lock(growing_);
  std::size_t missing = captures;
  {
    const std::lock_guard lending(reserve_->mutex);
    for (const Loan* loan : reserve_->free)
      if (known > 0 && missing > 0 && need.within(loan->owned.size)) --known, --missing;
  }
  for (; missing > 0; --missing) {
    auto loan = std::make_unique<Loan>();
    loan->owned = allocate_now(need);
    const std::lock_guard lending(reserve_->mutex);
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
    // The smallest that is large enough: a larger one was made for another kernel.
    auto fits = free.end();
    for (auto at = free.begin(); at != free.end(); ++at)
      if (need.within((*at)->owned.size) &&
          (fits == free.end() || (*at)->owned.size.bytes() < (*fits)->owned.size.bytes()))
        fits = at;
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
                    std::to_string(bytes) + " bytes, " + std::to_string(address % kWorkAlignment) +
                    " bytes after such a multiple: allocate as many as workspace_bytes() returns, aligned");
  }
  if (need.zeroed > 0) backend_.fill_on(address, 0, need.zeroed, stream);
  return {address, address + need.zeroed};
}

}  // namespace tuner
