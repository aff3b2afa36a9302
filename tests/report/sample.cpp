#include "sample.hpp"

#include <algorithm>
#include <cmath>

namespace tuner::report::test {
namespace {

/// Random numbers in [0, 1), the same in every run.
class Numbers {
 public:
  double next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state_ >> 11) / 9007199254740992.0;
  }
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(next() * static_cast<double>(count)); }

 private:
  std::uint64_t state_ = 42;
};

cache::BestRecord best_of(const cache::SessionKey& key, const cache::TrialRecord& trial) {
  return {key, trial, trial.configuration, std::ssize(trial.samples_ns), trial.created_ms};
}

cache::TrialRecord failed_trial(const std::string& configuration, const std::string& kind, const std::string& message) {
  cache::TrialRecord trial;
  trial.configuration = configuration;
  trial.kind = kind;
  trial.message = message;
  trial.created_ms = sample_started_ms();
  return trial;
}

void add_session(Tuning& tuning, std::vector<cache::TrialRecord> trials) {
  cache::SessionRecord session;
  session.key = tuning.key;
  session.uuid = "00000000-0000-4000-8000-000000000001";
  session.strategy = "auto";
  session.seed = 1;
  session.origin = "tune";
  session.started_ms = sample_started_ms();
  session.finished_ms = sample_started_ms() + 90'000;
  session.trials = static_cast<std::int64_t>(trials.size());
  append_session(tuning, std::move(trials), session.started_ms, 0);
  tuning.sessions.push_back(std::move(session));
}

void serve_best(Tuning& tuning) {
  tuning.served.tier = cache::Tier::exact;
  tuning.served.reason = "measured on this device for exactly this problem, with this driver and compiler";
  tuning.served.database = tuning.database;
  tuning.served.best = tuning.best;
}

}  // namespace

std::int64_t sample_started_ms() { return 1'790'000'000'000; }

cache::SessionKey sample_key(const std::string& kernel) {
  cache::SessionKey key;
  key.kernel = {kernel, std::string(64, 'a'), "time"};
  key.device = {"cuda cc=9.0 sm=132 l2=62914560 bus=6016 smem=232448 regs=65536",
                "NVIDIA H200",
                "cuda",
                90,
                132,
                62914560,
                6016,
                232448,
                65536,
                R"({"copy_bytes_per_s":4.2e12,"read_bytes_per_s":4.5e12})"};
  key.environment = {"13.0", "nvrtc 13.0", "0.1.0", "Linux x86_64"};
  key.problem = {"T=float", {{"nx", 8192}, {"ny", 8192}}};
  key.conditions = R"({"cold":true})";
  return key;
}

cache::TrialRecord sample_trial(const std::string& configuration, double median_ns, std::int64_t created_ms) {
  cache::TrialRecord trial;
  trial.configuration = configuration;
  trial.samples_ns = std::vector<double>(30, median_ns);
  trial.median_ns = median_ns;
  trial.low_ns = median_ns * 0.998;
  trial.high_ns = median_ns * 1.002;
  trial.relative_noise = 0.002;
  trial.converged = trial.verified = true;
  trial.clock_mhz = 1980;
  trial.times_s = {{"compile", 0.05}, {"load", 0.0001}, {"measure", 0.02}, {"verify", 0.002}, {"wait", 0.1}};
  trial.created_ms = sample_started_ms() + created_ms;
  return trial;
}

Tuning sample_tuning(std::size_t trials) {
  Numbers numbers;
  std::vector<cache::TrialRecord> all;
  const int blocks[] = {32, 64, 128, 256, 512, 1024};
  const char* const caches[] = {"plain", "streaming", "no_allocate"};
  for (std::size_t i = 0; i < trials; ++i) {
    // Each configuration once, because 7919 and their number, 25920, have no common factor.
    std::size_t place = i * 7919 % 25920;
    const auto next = [&](std::size_t count) {
      const std::size_t digit = place % count;
      place /= count;
      return digit;
    };
    const int block = blocks[next(6)];
    const std::size_t rows = 1 + next(16), unroll = std::size_t{1} << next(5), pad = next(3);
    const std::size_t vector = std::size_t{1} << next(3), how = next(3);
    const std::string configuration = "block=" + std::to_string(block) + " cache=" + caches[how] +
                                      " pad=" + std::to_string(pad) + " rows=" + std::to_string(rows) +
                                      " transposed=" + (next(2) ? "true" : "false") +
                                      " unroll=" + std::to_string(unroll) + " vector=" + std::to_string(vector);
    const double off_block = std::log2(block / 256.0), off_rows = std::log2(static_cast<double>(rows) / 6.0);
    const double time = 120e3 *
                        (1 + 0.09 * off_block * off_block + 0.12 * off_rows * off_rows +
                         0.05 * static_cast<double>(how) + 0.4 / static_cast<double>(unroll * vector)) *
                        (1 + 0.04 * numbers.next());
    cache::TrialRecord trial = sample_trial(configuration, time, static_cast<std::int64_t>(9 * i + 30));
    trial.samples_ns.resize(10 + numbers.below(20));
    trial.low_ns = time * (1 - 0.01 * numbers.next());
    trial.high_ns = time * (1 + 0.01 * numbers.next());
    trial.resources = cache::ResourceRecord{static_cast<int>(24 + 4 * unroll + 2 * vector),
                                            0,
                                            0,
                                            static_cast<std::int64_t>(pad * 1024),
                                            0,
                                            static_cast<int>(2048 / block),
                                            std::min(1.0, 48.0 / (24.0 + 4.0 * static_cast<double>(unroll)))};
    trial.clock_mhz = 1900 + 80 * numbers.next();
    trial.metrics = {{"achieved_occupancy", 0.3 + 0.6 * numbers.next()}};
    const double luck = numbers.next();
    if (luck < 0.06) {
      trial = failed_trial(configuration, "", "");
      trial.created_ms = sample_started_ms() + static_cast<std::int64_t>(9 * i + 30);
      trial.kind = luck < 0.02    ? "compile"
                   : luck < 0.035 ? "launch"
                   : luck < 0.045 ? "timeout"
                   : luck < 0.055 ? "wrong"
                                  : "invalid";
      trial.message = luck < 0.02    ? "ptxas: too much shared memory: " + std::to_string(i) + " bytes"
                      : luck < 0.035 ? "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
                      : luck < 0.045 ? "did not end within 2 s"
                      : luck < 0.055 ? "c[" + std::to_string(i) + "] is " + std::to_string(i % 7) + ", not 3"
                                     : "block * rows exceeds 8192";
    }
    all.push_back(std::move(trial));
  }
  std::vector<cache::TrialRecord> leaders;
  for (const cache::TrialRecord& trial : all)
    if (trial.kind == "ok") leaders.push_back(trial);
  std::sort(leaders.begin(), leaders.end(), [](const auto& a, const auto& b) { return a.median_ns < b.median_ns; });
  leaders.resize(std::min<std::size_t>(leaders.size(), 8));
  for (std::size_t i = 0; i < leaders.size(); ++i) {
    leaders[i].created_ms = sample_started_ms() + static_cast<std::int64_t>(9 * trials + 100);
    leaders[i].metrics["dram_throughput"] = 3.1e12 + 1e10 * static_cast<double>(i);
    // Slower ones take less energy, except every third.
    leaders[i].metrics["energy"] = 0.05 - 0.002 * static_cast<double>(i) + (i % 3 == 2 ? 0.01 : 0);
    all.push_back(leaders[i]);
  }
  Tuning tuning;
  tuning.key = sample_key();
  tuning.database = "sample.db";
  if (!leaders.empty()) tuning.best = best_of(tuning.key, leaders.front());
  tuning.amounts = {3.0 * 8192 * 8192 * 4, 8192.0 * 8192, 1.0 / 3, 6.7e13, trials > 0 ? all.front().configuration : ""};
  tuning.verdict = Verdict{};
  tuning.verdict->limit = Limit::dram;
  tuning.verdict->reason = "it moves 4.1 TB/s, 95% of the 4.3 TB/s that this device streams in that mix";
  tuning.verdict->numbers = {"waves: 65536 blocks in 62.06 waves of 1056, the last 94% idle"};
  tuning.verdict->remarks = {"a block of 64 threads is small: at least 128 are advised"};
  add_session(tuning, std::move(all));
  serve_best(tuning);
  return tuning;
}

Tuning hostile_tuning() {
  const std::string bad = "</script><script>window.hacked=1</script><img/src=x/onerror=hacked=1>\"'&\xE2\x80\xAE\x01";
  Tuning tuning;
  tuning.key = sample_key(bad);
  tuning.key.device.name = bad;
  tuning.key.device.properties = "[\"" + std::string("not an object") + "\"]";
  tuning.key.problem.choices = bad;
  tuning.key.environment = {bad, bad, bad, bad};
  tuning.key.conditions = bad;
  tuning.database = bad;
  std::vector<cache::TrialRecord> trials;
  for (int i = 0; i < 30; ++i) {
    cache::TrialRecord trial = sample_trial("__proto__=" + std::to_string(i % 3) + " constructor=<b>" +
                                                std::to_string(i % 5) + "</b> hasOwnProperty=" + std::to_string(i % 2),
                                            1000 + 10 * i, 10 * i);
    trial.metrics = {{bad, 1.0 * i}, {"__proto__", 2.0 * i}};
    if (i % 10 == 9) trial = failed_trial("not a configuration " + bad, "compile", bad + "\n" + bad);
    trials.push_back(std::move(trial));
  }
  tuning.best = best_of(tuning.key, trials.front());
  tuning.verdict = Verdict{};
  tuning.verdict->limit = Limit::latency;
  tuning.verdict->reason = bad;
  tuning.verdict->numbers = tuning.verdict->remarks = {bad};
  tuning.quarantined = {{tuning.key.device.key, tuning.key.kernel, tuning.key.problem, bad, bad, 0}};
  add_session(tuning, std::move(trials));
  tuning.sessions.front().strategy = tuning.sessions.front().origin = bad;
  serve_best(tuning);
  tuning.served.reason = bad;
  return tuning;
}

PageOptions sample_options() { return {"0.1.0", sample_started_ms() + 100'000, {"sample.db"}}; }

}  // namespace tuner::report::test
