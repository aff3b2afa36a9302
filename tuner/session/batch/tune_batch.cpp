#include <tuner/session/batch/tune_batch.hpp>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <future>
#include <mutex>
#include <thread>

#include <tuner/core/values/message_text.hpp>
#include <tuner/error.hpp>
#include <tuner/session/batch/problem_spread.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner {
namespace {

using Share = ProblemSpread::Share;

class Batch {
 public:
  Batch(TuneRequest request, const std::atomic<bool>& stop, BatchListener& listener, const TuneProblem& tune)
      : request_(std::move(request)),
        stop_(stop),
        listener_(listener),
        tune_(tune),
        how_(spread_of(request_)),
        spread_(most_devices(), is_together() ? 1 : 1 + request_.devices.more.size()) {
    for (std::size_t i = 0; i < spread_.devices(); ++i) {
      seats_.push_back({request_.devices.device, !is_together(), request_.without_ceilings});
      seats_.back().device.index = ordinal(i);
    }
  }

  void run() {
    std::vector<std::future<void>> others;
    const std::size_t devices = spread_.devices();  // the threads change it
    // Without a thread that can be started, this one does the work when it asks for the result.
    for (std::size_t i = 1; how_ == Spread::side_by_side && i < devices; ++i)
      others.push_back(std::async(std::launch::async | std::launch::deferred, [this] { work(); }));
    work();
    for (std::future<void>& one : others) one.get();
    if (fatal_) std::rethrow_exception(fatal_);
    if (seats_.front().wisdom) listener_.on_results(*seats_.front().wisdom);
  }

 private:
  bool is_together() const { return how_ == Spread::together; }
  int ordinal(std::size_t device) const {
    return device == 0 ? request_.devices.device.index : request_.devices.more[device - 1];
  }
  std::vector<int> ordinals(const std::vector<std::size_t>& devices) const {
    std::vector<int> all;
    for (const std::size_t one : devices) all.push_back(ordinal(one));
    return all;
  }

  std::vector<std::size_t> most_devices() const {
    std::vector<std::size_t> most;
    for (const TuneJob& job : request_.jobs)
      most.push_back(job.tuning.isolation == Isolation::process ? 1 + request_.devices.more.size() : 1);
    return most;
  }

  /// Tunes problems until there are none. Runs on a thread for each device when they are tuned side by side. Holds the
  /// lock except while tuning, as take_devices(), give_up() and lost_of() need.
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      const std::optional<Share> share = stop_ || fatal_ ? std::nullopt : spread_.next();
      if (!share && running_ == 0) return;
      if (!share) {  // a problem that runs may come back, or its devices be free for another
        changed_.wait(lock);
        continue;
      }
      ++running_;
      std::exception_ptr failure;  // of the listener
      try {
        take_devices(*share);
        ProblemListener& listener = listener_.on_begin(share->problem, ordinals(share->devices));
        lock.unlock();
        tune(*share, listener);
      } catch (...) {
        failure = std::current_exception();
      }
      if (!lock.owns_lock()) lock.lock();
      --running_;
      if (failure) fatal_ = failure;
      changed_.notify_all();
    }
  }

  void take_devices(const Share& share) {
    TuningOptions& tuning = request_.jobs[share.problem].tuning;
    tuning.more_devices = request_.devices.more;
    if (is_together()) return;
    tuning.more_devices = ordinals({share.devices.begin() + 1, share.devices.end()});
    if (how_ != Spread::side_by_side) return;
    const std::size_t cores = std::max(std::thread::hardware_concurrency(), 1u);
    tuning.compile_workers = std::min<std::size_t>(spread_.part(share, cores), 64);
  }

  void tune(const Share& share, ProblemListener& listener) {
    const TuneJob& job = request_.jobs[share.problem];
    Seat& seat = seats_[share.devices.front()];
    ProblemResult result;
    std::string lost;
    try {
      result = tune_(job, seat, listener);
    } catch (const DeviceLostError& failure) {
      is_together() ? fail(result, failure) : void(lost = failure.what());
    } catch (const std::exception& failure) {
      fail(result, failure);
    }
    result.device = seat.device;
    if (seat.wisdom && !seat.wisdom->user().is_in_memory()) result.database = seat.wisdom->user().path().string();
    {
      const std::lock_guard lock(mutex_);
      if (lost.empty())
        spread_.done(share, lost_of(share, result));
      else if (give_up(share, lost))
        return;
      else
        result.error = first_line(lost);
    }
    listener_.on_end(share.problem, std::move(result));
  }

  /// A problem that fails does not end the others. But no other problem of the kernel can succeed without workers, a
  /// database or a compiler.
  void fail(ProblemResult& result, const std::exception& failure) {
    result.error = failure.what();
    if (!is_together()) return;
    const auto* const error = dynamic_cast<const Error*>(&failure);
    result.ends_batch = request_.jobs.size() == 1 || !error || dynamic_cast<const WorkerError*>(error) ||
                        error->code() == ErrorCode::cache || request_.devices.device.environment.compiler == "none";
    if (result.ends_batch) fatal_ = std::current_exception();
  }

  std::string names(const std::vector<std::size_t>& devices) const {
    return ordinals_text(request_.devices.device.key, ordinals(devices));
  }

  /// Handles a share whose devices cannot be used any more. Returns whether its problem is tuned again.
  bool give_up(const Share& share, const std::string& reason) {
    seats_[share.devices.front()].backend.reset();
    const std::size_t before = spread_.devices();
    const bool again = spread_.lost(share), taken = spread_.devices() < before;
    const char* const verb = share.devices.size() == 1 ? " is" : " are";
    listener_.on_warning(names(share.devices) + (taken ? verb + std::string(" not used any more: ") : ": ") + reason);
    listener_.on_warning(request_.jobs[share.problem].name() + (!again  ? ": not tuned, it lost its devices twice"
                                                                : taken ? ": tuned again on another device"
                                                                        : ": tuned again"));
    return again;
  }

  std::vector<std::size_t> lost_of(const Share& share, const ProblemResult& result) {
    std::vector<std::size_t> lost;
    if (!result.answer.found) return lost;
    const std::vector<LaneReport>& lanes = result.answer.found->lanes;
    for (std::size_t i = 0; i < std::min(lanes.size(), share.devices.size()); ++i)
      if (lanes[i].unusable) lost.push_back(share.devices[i]);
    if (lost.size() >= spread_.devices()) return {};  // another problem may still run on the last one
    if (!lost.empty()) listener_.on_warning(names(lost) + (lost.size() == 1 ? " is" : " are") + " not used any more");
    return lost;
  }

  TuneRequest request_;
  const std::atomic<bool>& stop_;
  BatchListener& listener_;
  const TuneProblem& tune_;
  const Spread how_;

  std::mutex mutex_;  // guards the members below; not held while tuning
  ProblemSpread spread_;
  std::vector<Seat> seats_;  // of the devices; in use by one share at a time
  std::size_t running_ = 0;  // problems
  std::condition_variable changed_;
  std::exception_ptr fatal_;
};

}  // namespace

void tune_batch(const TuneRequest& request, const std::atomic<bool>& stop, BatchListener& listener, TuneProblem tune) {
  if (!tune)
    tune = [&](const TuneJob& job, Seat& seat, ProblemListener& problem) {
      const auto warn = [&listener](std::string_view text) { listener.on_warning(text); };
      if (!seat.wisdom)
        seat.wisdom = std::make_unique<Wisdom>(WisdomOptions{.database = request.database, .warn = warn});
      ProblemResult result = tune_problem(job, seat, problem, stop);
      if (result.is_stored && !result.is_interrupted && job.miss) cache::forget_miss(seat.wisdom->user(), *job.miss);
      return result;
    };
  Batch(request, stop, listener, tune).run();
}

}  // namespace tuner
