#pragma once
/// The databases of this process: the user's own and the shipped ones, opened once, asked together.

#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include <cache/database.hpp>
#include <cache/lookup.hpp>

#include <tuner/core/device.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/core/objective.hpp>

namespace tuner {

struct WisdomOptions {
  std::filesystem::path database;     ///< the user's database; empty: the default place
  std::filesystem::path application;  ///< a further folder or file with shipped databases
  bool shipped = true;                ///< look for shipped databases at all
  std::function<void(std::string_view)> warn;
  bool read_only = false;  ///< the user's database is not written, nor made; one that is broken is an error
};

class Wisdom {
 public:
  /// Never fails, unless it is to read only: what cannot be opened is replaced by memory, with a warning.
  explicit Wisdom(const WisdomOptions& options);

  cache::Database& user() { return user_; }
  const std::vector<cache::Database>& shipped() const { return shipped_; }
  /// The user's own first.
  std::vector<cache::Database*> databases();

  /// The best known configuration of \p spec for \p size on \p device. Candidates that the kernel's space, its
  /// constraints or the device's limits reject are passed over, and listed in the answer. \p around: see cache::lookup.
  cache::WisdomMatch lookup(const KernelSpec& spec, const ProblemSize& size, const Device& device,
                            const Objective& objective = {}, const cache::Sizes& around = {});

 private:
  cache::Database user_;
  std::vector<cache::Database> shipped_;
};

}  // namespace tuner
