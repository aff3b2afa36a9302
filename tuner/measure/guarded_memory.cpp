#include <tuner/measure/guarded_memory.hpp>

#include <algorithm>
#include <random>

namespace tuner {
namespace {

constexpr std::size_t kPageBytes = 4096;

}  // namespace

GuardedMemory::GuardedMemory(Backend& backend, std::size_t bytes, std::size_t shift, std::size_t guard_bytes,
                             std::uint64_t number, std::size_t floating)
    : backend_(&backend), guard_bytes_(guard_bytes), front_(guard_bytes + shift), bytes_(bytes), back_(guard_bytes) {
  // The guard extends to the end of the last page; the host backend protects the next page.
  if (guard_bytes > 0) back_ += -(front_ + bytes_ + back_) % kPageBytes;
  memory_ = backend.allocate(std::max<std::size_t>(front_ + bytes_ + back_, 1));
  guards_.resize(std::max(front_, guard_bytes + kPageBytes));
  std::mt19937_64 random(number);
  for (unsigned char& byte : guards_) byte = static_cast<unsigned char>(random());
  if (floating == 0) return;
  // A floating number of any type with these bits is NaN.
  for (std::size_t end = floating; end <= guards_.size(); end += 2 * floating) {
    guards_[end - 1] |= 0x7f;
    if (floating > 1) guards_[end - 2] = 0xff;
  }
}

void GuardedMemory::resize(std::size_t bytes) {
  bytes_ = bytes;
  back_ = std::min(memory_->bytes() - front_ - bytes_, guard_bytes_ + kPageBytes);
}

void GuardedMemory::write_guards() const {
  if (front_ > 0) backend_->upload(memory_->address(), guards_.data(), front_);
  if (back_ > 0) backend_->upload(data() + bytes_, guards_.data(), back_);
}

void GuardedMemory::fill_guards_with_zeros() const {
  if (front_ > 0) backend_->fill_bytes(memory_->address(), 0, front_);
  if (back_ > 0) backend_->fill_bytes(data() + bytes_, 0, back_);
}

std::optional<std::ptrdiff_t> GuardedMemory::broken() const {
  std::vector<unsigned char> bytes(guards_.size());
  if (front_ > 0) {
    backend_->download(bytes.data(), memory_->address(), front_);
    for (std::size_t i = front_; i-- > 0;)
      if (bytes[i] != guards_[i]) return static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(front_);
  }
  if (back_ > 0) {
    backend_->download(bytes.data(), data() + bytes_, back_);
    for (std::size_t i = 0; i < back_; ++i)
      if (bytes[i] != guards_[i]) return static_cast<std::ptrdiff_t>(bytes_ + i);
  }
  return std::nullopt;
}

}  // namespace tuner
