#pragma once
/// Tunes the problems of a request on its devices, or answers them from the databases.

#include <atomic>
#include <functional>

#include <tuner/session/batch/tune_problem.hpp>

namespace tuner {

/// A stand-in for tune_problem() in tests. Called by several threads at once.
using TuneProblem = std::function<ProblemResult(const TuneJob& job, Seat& seat, ProblemListener& listener)>;

/// Tunes all problems, as spread_of() says. A problem that fails does not end the others, unless they would fail too. A
/// problem that loses its devices is tuned once more (ProblemSpread). \p stop ends the batch; problems that have not
/// begun then stay without an event. Throws the error of the problem that ended the batch.
void tune_batch(const TuneRequest& request, const std::atomic<bool>& stop, BatchListener& listener,
                TuneProblem tune = {});

}  // namespace tuner
