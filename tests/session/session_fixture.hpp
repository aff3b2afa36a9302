#pragma once
/// Sessions without devices and databases, for tests.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fakes.hpp"

namespace tuner::testing {

class TuneSession : public ::testing::Test {
 protected:
  struct Warnings final : Observer {
    void on_warning(std::string_view message) override { texts.emplace_back(message); }
    std::vector<std::string> texts;
  };

  SessionResult run(FakeEvaluator& evaluator, Observer* observer = nullptr) {
    options_.strategy = "exhaustive";
    return run_auto(evaluator, observer);
  }
  SessionResult run_auto(FakeEvaluator& evaluator, Observer* observer = nullptr) {
    return run_session(spec_, size_, device_, evaluator, &store_, options_, observer ? observer : &warnings_);
  }

  KernelSpec spec_ = small_kernel();
  const ProblemSize size_ = small_problem();
  Device device_ = some_device();
  const Configuration optimum_{{"block", 128}, {"unroll", 2}}, rival_{{"block", 128}, {"unroll", 1}};
  const Configuration first_{{"block", 256}, {"unroll", 1}};  ///< 18% slower than the optimum
  SessionOptions options_;
  MemoryStore store_;
  Warnings warnings_;
};

}  // namespace tuner::testing
