#include <tuner/cli/spread_tuning.hpp>

#include <algorithm>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <tuner/backend/traits.hpp>
#include <tuner/cli/interrupt.hpp>
#include <tuner/cli/problem_spread.hpp>
#include <tuner/cli/table.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/format.hpp>
#include <tuner/core/message_text.hpp>
#include <tuner/version.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner::cli {
namespace {

using Share = ProblemSpread::Share;

/// The speed-up over the kernel's default configuration; empty if that was not measured.
std::string against_default(const ProblemResult& result) {
  return result.default_ns && result.median_ns > 0 ? fmt::format("{:.2f}", *result.default_ns / result.median_ns) : "";
}

class SpreadTuning {
 public:
  SpreadTuning(std::vector<TuneJob> jobs, const DeviceChoice& devices, const std::atomic<bool>& stop,
               TuneEvents& events, const TuneShare& tune)
      : stop_(stop),
        events_(events),
        console_(events.console()),
        tune_(tune),
        request_(jobs.front().request),
        devices_(devices),
        spread_(most_of(jobs), 1 + devices.more.size()),
        seats_(spread_.devices()),
        // A dry run only prints.
        side_by_side_(spread_.devices() > 1 && jobs.size() > 1 && !request_.dry_run) {
    for (TuneJob& job : jobs) entries_.push_back({std::move(job)});
    for (Seat& seat : seats_) seat.console = &console_;
  }

  SpreadResult run() {
    introduce();
    std::unique_lock lock(mutex_);
    begin_all(lock);
    for (std::size_t i = 0; i < threads_.size(); ++i) {  // a thread that ends may have begun others
      std::thread thread = std::move(threads_[i]);
      lock.unlock();
      thread.join();
      lock.lock();
    }
    console_.end_status();
    return result();
  }

 private:
  /// One problem of the list.
  struct Entry {
    TuneJob job;
    ProblemResult result = {};
    Json documents = Json::array();
    std::string error = {};
    int code = kFailed;
    bool ended = false;

    const ProblemSize& size() const { return job.problems.list.front(); }
    std::string name() const { return job.spec->name + ' ' + size().text(); }
  };

  /// The events of one problem. A problem that is tuned alone prints at once. Beside others, its trials are counted,
  /// its warnings begin with its name, and its text is kept until it has ended.
  class EntryEvents final : public KeptEvents {
   public:
    EntryEvents(SpreadTuning& all, const std::string& who) : all_(all), beside_others_(all.console_, who) {}
    Console& console() override { return all_.side_by_side_ ? beside_others_ : all_.console_; }
    void on_text(const std::string& more) override {
      all_.side_by_side_ ? KeptEvents::on_text(more) : all_.events_.on_text(more);
    }
    void on_result(ProblemResult one) override { result = std::move(one); }
    void on_trial(const Trial&, const Progress&) override {
      if (!all_.side_by_side_) return;
      const std::lock_guard lock(all_.mutex_);
      ++all_.finished_trials_;
      all_.show_status();
    }

    std::optional<ProblemResult> result;

   private:
    SpreadTuning& all_;
    Console beside_others_;
  };

  static std::vector<std::size_t> most_of(const std::vector<TuneJob>& jobs) {
    std::vector<std::size_t> most;
    for (const TuneJob& job : jobs)
      most.push_back(job.request.tuning.isolation == Isolation::process ? 1 + job.devices.more.size() : 1);
    return most;
  }

  void introduce() {
    if (!side_by_side_) return;
    std::vector<std::size_t> all(spread_.devices());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    console_.line(fmt::format("device    {}, {}: {}", devices_.device.name, devices_.device.environment.compiler,
                              devices_.reason));
    console_.line(fmt::format("problems  {}, spread over {}", entries_.size(), names(all)));
    for (const Entry& entry : entries_)
      if (entry.job.problems.may_be_one) console_.line(kSizesOfOneProblem);
  }

  void begin_all(std::unique_lock<std::mutex>& lock) {
    while (!stop_) {
      std::optional<Share> share = spread_.next();
      if (!share) return;
      Entry& entry = entries_[share->problem];
      ++begun_;
      console_.line(fmt::format("{}problem   {} of {}: {}{}", !side_by_side_ && begun_ > 1 ? "\n" : "",
                                share->problem + 1, entries_.size(), entry.name(),
                                side_by_side_ ? ", on " + names(share->devices) : ""));
      ++running_;
      if (!side_by_side_) {
        lock.unlock();
        tune(*share);
        lock.lock();
        continue;
      }
      try {
        threads_.emplace_back([this, one = *share] {
          tune(one);
          std::unique_lock guard(mutex_);
          begin_all(guard);
        });
      } catch (const std::system_error& failure) {
        --running_;
        entry.ended = true;
        entry.error = fmt::format("no thread can be started for it: {}", failure.what());
        spread_.done(*share);
        conclude(entry, {});
      }
    }
  }

  void tune(const Share& share) {
    Entry& entry = entries_[share.problem];
    EntryEvents events(*this, entry.name());
    std::string error, lost;
    std::unique_lock lock(mutex_);
    TuneJob job = job_of(share);
    lock.unlock();
    int code = kFailed;
    try {
      code = tune_(std::move(job), events, seats_[share.devices.front()]);
    } catch (const DeviceLostError& failure) {
      lost = failure.what();
    } catch (const std::exception& failure) {
      error = failure.what();
    }
    lock.lock();
    --running_;
    if (!lost.empty() && give_up(share, lost)) return;
    entry.ended = true;
    entry.code = code;
    entry.error = error.empty() ? first_line(lost) : error;
    entry.documents = std::move(events.documents);
    if (events.result) entry.result = std::move(*events.result);
    if (lost.empty()) spread_.done(share, lost_of(share, entry.result));
    conclude(entry, events.text);
  }

  /// Handles a share whose devices cannot be used any more. Returns whether its problem is tuned again.
  bool give_up(const Share& share, const std::string& reason) {
    seats_[share.devices.front()].backend.reset();
    const std::string name = entries_[share.problem].name();
    const std::size_t before = spread_.devices();
    const bool again = spread_.lost(share), taken = spread_.devices() < before;
    console_.warning(taken ? fmt::format("{} {} not used any more: {}", names(share.devices),
                                         share.devices.size() == 1 ? "is" : "are", reason)
                           : fmt::format("{}: {}", names(share.devices), reason));
    console_.warning(name + (!again  ? ": not tuned, it lost its devices twice"
                             : taken ? ": tuned again on another device"
                                     : ": tuned again"));
    return again;
  }

  std::vector<std::size_t> lost_of(const Share& share, const ProblemResult& result) {
    std::vector<std::size_t> lost;
    if (result.lost.size() >= spread_.devices()) return lost;  // the last one may yet do for another problem
    for (const std::size_t position : result.lost)
      if (position < share.devices.size()) lost.push_back(share.devices[position]);
    if (!lost.empty())
      console_.warning(fmt::format("{} {} not used any more", names(lost), lost.size() == 1 ? "is" : "are"));
    return lost;
  }

  void conclude(Entry& entry, const std::string& text) {
    if (!entry.error.empty()) console_.error(entry.name() + ": " + entry.error);
    ++ended_problems_;
    if (!request_.json && !text.empty()) events_.on_text(text);
    if (!side_by_side_) return;
    const ProblemResult& found = entry.result;
    std::string what = "nothing was found";
    if (found.is_found()) what = format_ns(found.median_ns);
    if (const std::string times = against_default(found); !times.empty())
      what += fmt::format(", {}x the default", times);
    if (found.known) what += ", known before";
    console_.line(fmt::format("done      {} of {}: {}, {}", ended_problems_, entries_.size(), entry.name(), what));
    show_status();
  }

  /// With the lock held.
  void show_status() {
    console_.status([this](std::size_t width) {
      const std::string text = fmt::format("{} of {} problems done, {} running, {}", ended_problems_, entries_.size(),
                                           running_, plural(static_cast<std::int64_t>(finished_trials_), "trial"));
      return text.substr(0, width);
    });
  }

  /// With the lock held.
  TuneJob job_of(const Share& share) const {
    TuneJob job = entries_[share.problem].job;
    const auto ordinal = [this](std::size_t device) {
      return device == 0 ? devices_.device.index : devices_.more[device - 1];
    };
    job.devices = devices_;
    job.devices.device.index = ordinal(share.devices.front());
    job.devices.more.clear();
    for (std::size_t i = 1; i < share.devices.size(); ++i) job.devices.more.push_back(ordinal(share.devices[i]));
    if (!side_by_side_) return job;
    const std::size_t cores = std::max(std::thread::hardware_concurrency(), 1u);
    job.request.tuning.compile_workers = std::min<std::size_t>(spread_.part(share, cores), 64);
    return job;
  }

  std::string names(const std::vector<std::size_t>& devices) const {
    const bool gpus = traits(devices_.device.key).is_gpu;
    std::string text = fmt::format("{}{} ", gpus ? "GPU" : "host", gpus && devices.size() > 1 ? "s" : "");
    const char* between = "";
    for (const std::size_t one : devices)
      text +=
          fmt::format("{}{}", std::exchange(between, ", "), one == 0 ? devices_.device.index : devices_.more[one - 1]);
    return text;
  }

  SpreadResult result() {
    SpreadResult all;
    std::size_t tuned = 0, known = 0;
    for (Entry& entry : entries_) {
      if (!entry.ended && !stop_) entry.error = "not tuned: no device is left";
      all.code = std::max(all.code, entry.ended || !stop_ ? entry.code : kDone);
      tuned += entry.ended && entry.code == kDone && entry.result.is_found();
      known += entry.result.known;
      if (!request_.json) continue;
      all.documents.push_back(
          entry.documents.empty()
              ? Json{{"kernel", entry.job.spec->name}, {"problem", to_json(entry.size())}, {"error", reason(entry)}}
              : std::move(entry.documents.front()));
    }
    if (stop_) all.code = kInterrupted;
    if (request_.dry_run) return all;
    if (!request_.json) events_.on_text('\n' + table());
    console_.line(fmt::format("problems  {} of {} done{}{}", tuned, entries_.size(),
                              known > 0 ? fmt::format(", {} of them known before", known) : "",
                              stop_ ? "; the same command continues from here" : ""));
    return all;
  }

  std::string reason(const Entry& entry) const {
    if (!entry.error.empty()) return entry.error;
    return entry.ended ? "nothing was found" : "interrupted before it began";
  }

  std::string table() const {
    Table table({"#", "kernel", "problem", "best", "speed-up", "configuration"});
    for (const Entry& entry : entries_) {
      const ProblemResult& found = entry.result;
      const bool has = found.is_found();
      table.add({table.rows() + 1, entry.job.spec->name, entry.size().text(), has ? Cell::ns(found.median_ns) : Cell(),
                 has ? Cell::right(against_default(found)) : Cell(),
                 has ? found.configuration : first_line(reason(entry))});
    }
    return with_dim_titles(table.lines(), Style::of(stdout));
  }

  const std::atomic<bool>& stop_;
  TuneEvents& events_;
  Console& console_;
  const TuneShare& tune_;
  const TuneRequest request_;  // common to all problems
  const DeviceChoice devices_;
  std::deque<Entry> entries_;

  std::mutex mutex_;  // guards the members below and entries that have ended; not held while tuning
  ProblemSpread spread_;
  std::vector<Seat> seats_;  // of the devices; in use by one share at a time
  const bool side_by_side_;
  std::size_t begun_ = 0, running_ = 0, ended_problems_ = 0, finished_trials_ = 0;
  std::vector<std::thread> threads_;
};

/// A job for each problem of \p job that is not in \p known.
void add_each(const TuneJob& job, std::set<std::string>& known, std::vector<TuneJob>& all) {
  for (const ProblemSize& size : job.problems.list) {
    if (!known.insert(job.spec->file + '\n' + job.spec->name + '\n' + size.text()).second) continue;
    all.push_back(job);
    all.back().problems = {{size}, job.problems.shrunk, job.problems.may_be_one && &size == &job.problems.list.front()};
  }
}

TuneJob read_line(const TuneRequest& all, const ListedRequest& line, const DeviceChoice& devices) try {
  TuneRequest one = all;
  one.kernel = line.kernel;
  one.problems = line.problems;
  if (line.budget) one.tuning.session.budget = *line.budget;
  if (line.isolation) one.tuning.isolation = *line.isolation;
  return read_job(std::move(one), devices);
} catch (const UsageError& error) {
  throw UsageError(line.place + ": " + error.what());
} catch (const Error& error) {
  throw Error(line.place + ": " + error.what());
}

TuneShare run_share(const std::atomic<bool>& stop) {
  return [&stop](TuneJob job, TuneEvents& events, Seat& seat) { return run_job(std::move(job), stop, events, &seat); };
}

}  // namespace

SpreadResult tune_jobs(std::vector<TuneJob> jobs, const DeviceChoice& devices, const std::atomic<bool>& stop,
                       TuneEvents& events, const TuneShare& tune) {
  return SpreadTuning(std::move(jobs), devices, stop, events, tune).run();
}

int tune_list(const TuneRequest& request, std::optional<DeviceChoice> devices, const std::atomic<bool>& stop,
              TuneEvents& events) {
  const DeviceChoice choice = devices ? std::move(*devices) : choose_alike(request.device);
  TuneRequest all = request;
  all.list.clear();
  std::vector<TuneJob> jobs;
  std::set<std::string> known;
  for (const ListedRequest& line : request.list) add_each(read_line(all, line, choice), known, jobs);
  SpreadResult result = tune_jobs(std::move(jobs), choice, stop, events, run_share(stop));
  if (request.json)
    events.on_document({{"tuner", kVersion}, {"interrupted", stop.load()}, {"problems", std::move(result.documents)}});
  return result.code;
}

int tune_spread(const TuneJob& job, const std::atomic<bool>& stop, TuneEvents& events) {
  std::vector<TuneJob> jobs;
  std::set<std::string> known;
  add_each(job, known, jobs);
  SpreadResult result = tune_jobs(std::move(jobs), job.devices, stop, events, run_share(stop));
  if (!job.request.json) return result.code;
  Json document;
  Json results = Json::array(), failed = Json::array();
  for (Json& one : result.documents) {
    if (!one.contains("results")) {
      failed.push_back(std::move(one));
      continue;
    }
    for (Json& found : one["results"]) results.push_back(std::move(found));
    if (document.is_null()) document = std::move(one);
  }
  if (document.is_null()) document = {{"tuner", kVersion}, {"kernel", job.spec->name}, {"file", job.spec->file}};
  document["interrupted"] = stop.load();
  document["results"] = std::move(results);
  if (!failed.empty()) document["failed"] = std::move(failed);
  events.on_document(std::move(document));
  return result.code;
}

}  // namespace tuner::cli
