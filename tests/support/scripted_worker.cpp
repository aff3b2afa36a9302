// A worker without compilers or devices: does what the values of a configuration's parameter `does` say. For tests of
// what a session makes of it. Like tuner-worker, it is given two descriptors and its session's process id.

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include <tests/support/wait_until.hpp>
#include <tuner/worker/serve.hpp>

namespace {

using namespace tuner;
using namespace tuner::worker;

int out = 4;
int device = 0;
std::optional<Connection> session;

void send(const Message& message) { session->send(message); }

[[noreturn]] void hang() {
  while (true) ::pause();
}

bool has(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

/// Dies of the signal itself: sanitizers would report it and exit.
[[noreturn]] void crash() {
  send(LastWords{SIGSEGV});
  std::signal(SIGSEGV, SIG_DFL);
  std::raise(SIGSEGV);
  std::abort();
}

std::string marker(const std::string& of) {
  const char* const begin = std::getenv("TUNER_TEST_MARKER");
  return (begin == nullptr ? "/nowhere" : begin) + of;
}

/// That device 1 was lost to a configuration that `falls_off`.
std::string fallen() { return marker(".fallen"); }

bool has_fallen() { return device == 1 && ::access(fallen().c_str(), F_OK) == 0; }

/// Of all workers of a test.
bool first_time(const std::string& of) {
  const int fd = ::open(marker(of).c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600);
  if (fd >= 0) ::close(fd);
  return fd >= 0;
}

/// The same for one value of the parameter `copy`, if there is one.
bool first_time(const Configuration& configuration) {
  const Value* const copy = configuration.find("copy");
  return first_time(copy ? copy->text() : "");
}

void compile(const Compile& message) {
  Image image;
  for (const std::string& expression : message.request.expressions) {
    if (has(expression, "compiler_crashes")) crash();
    if (has(expression, "compiler_is_killed") && (!has(expression, "once") || first_time("compiler"))) {
      std::raise(SIGKILL);
      hang();
    }
    if (has(expression, "compiler_hangs")) hang();
    if (has(expression, "compiler_waits")) {
      (void)first_time(".compiling");
      testing::wait_until([] { return ::access(marker(".go").c_str(), F_OK) == 0; });
    }
    if (has(expression, "compiler_babbles")) (void)!::write(out, "what?  this is no message", 25);
    if (has(expression, "refused")) {
      send(CompileAnswer{CompileError{"refused", expression}, 0.001});
      return;
    }
    image.functions.push_back({expression, expression, {}});
  }
  send(CompileAnswer{image, 0.001});
}

Trial run(const Configuration& configuration) {
  const std::string does = configuration.find("does")->string();
  // Only what hangs is short of time: a machine that stalls must not make timeouts of the others.
  send(PhaseReport{Phase::verify, does.starts_with("hangs") || does == "is_stopped_once" ? 0.1 : 60,
                   does != "hangs_in_our_step"});
  if (does == "runs_until_recalled" && first_time(configuration))
    testing::wait_until([] { return session->look_for_recall(); });
  if (does == "meets_others") {  // on devices 0 and 1
    const int fd = ::open(marker(std::to_string(device)).c_str(), O_CREAT | O_WRONLY, 0600);
    if (fd >= 0) ::close(fd);
    testing::wait_until([] { return ::access(marker("0").c_str(), F_OK) + ::access(marker("1").c_str(), F_OK) == 0; });
  }
  if (does == "is_killed") std::raise(SIGKILL);
  if (does.ends_with("_once") && first_time(configuration)) {
    std::raise(does == "is_stopped_once" ? SIGSTOP : SIGKILL);
    hang();
  }
  if (does == "crashes") {
    (void)!::write(STDERR_FILENO, "segmentation imminent\n", 22);
    crash();
  }
  if (does == "aborts") std::abort();
  if (does == "exits") std::_Exit(3);
  if (does.starts_with("hangs")) hang();
  if (does == "babbles") {
    (void)!::write(out, "what?  this is no message", 25);
    hang();
  }
  Trial trial;
  trial.configuration = configuration;
  trial.verified = true;
  Measurement measurement;
  measurement.median_ns = (does == "fast" ? 100 : 200) * (1 + 0.01 * device);  // each a percent slower than the last
  measurement.samples_ns.assign(10, measurement.median_ns);
  trial.outcome = measurement;
  if (does == "wrong") trial.outcome = WrongResult{"c[0]"};
  if (does == "falls_off" && device == 1) ::close(::open(fallen().c_str(), O_CREAT | O_WRONLY, 0600));
  if (does == "poisons" || (does == "falls_off" && device == 1)) {
    trial.outcome = LaunchError{"illegal address"};
    trial.crashed = true;
  }
  return trial;
}

int serve(const std::string& mode) {
  Role role = Role::compile;
  bool verifies_own = false;
  while (true) {
    const Message message = session->receive();
    if (std::holds_alternative<Quit>(message)) return 0;
    if (const auto* open = std::get_if<Open>(&message)) {
      role = open->role;
      device = open->device;
      verifies_own = open->measure.own_problems;
      if (mode == "old") {
        auto bytes = encode(Opened{});
        bytes[4] = std::byte{99};
        (void)!::write(out, bytes.data(), bytes.size());
        hang();
      }
      if (mode == "opens never") {
        (void)first_time(".opening");
        hang();
      }
      if ((mode == "no device" || mode == "no device " + std::to_string(device) || has_fallen()) && role == Role::run) {
        send(Failed{"no CUDA-capable device is detected", false});
        return 1;
      }
      Opened opened;
      if (role == Role::run) {
        opened.device.emplace();
        opened.device->key.backend = "scripted";
        opened.device->key.compute_capability = mode == "of all kinds" ? device + 1 : 1;
      } else {
        opened.compiler = "scripted 1";
      }
      send(opened);
      if (mode == "fills for ever" && role == Role::run) {
        send(PhaseReport{Phase::fill, 0.1});
        hang();
      }
    }
    if (std::holds_alternative<Prepare>(message)) {
      const std::string here = " on " + std::to_string(device);
      if (mode == "bad reference" || mode == "bad reference" + here)
        send(Failed{"the reference gives NaN", true});
      else if (mode == "reference crashes on chosen problems" && verifies_own)
        crash();
      else if (mode == "reference crashes" || mode == "reference crashes" + here)
        crash();
      else if (mode == "reference exits")
        ::_exit(3);
      else
        send(Prepared{});
    }
    if (const auto* request = std::get_if<Compile>(&message)) compile(*request);
    if (const auto* evaluate = std::get_if<Evaluate>(&message)) {
      Ran answer;
      if (!session->look_for_recall()) answer.trials.push_back(run(evaluate->configuration));
      if (session->look_for_recall_of_running()) answer.trials.clear();
      answer.usable = evaluate->configuration.find("does")->string() != "poisons" && !has_fallen();
      send(answer);
      if (!answer.usable) return 1;
    }
    if (const auto* remeasure = std::get_if<Remeasure>(&message)) {
      Ran answer;
      bool is_poisoned = false;
      for (const Configuration& configuration : remeasure->configurations) {
        answer.trials.push_back(run(configuration));
        if (is_poisoned) answer.trials.back().outcome = LaunchError{"given back", 0, true};
        is_poisoned |= answer.trials.back().crashed;
        if (auto* measured = std::get_if<Measurement>(&answer.trials.back().outcome)) {
          measured->metrics["seconds"] = remeasure->seconds;
          measured->metrics["process"] = ::getpid();
          measured->metrics["placement"] = remeasure->placement;
          measured->metrics["checked"] = double(remeasure->checked.size());
        }
      }
      if (session->look_for_recall_of_running()) answer.trials.clear();
      answer.usable = !has_fallen() && !is_poisoned;
      send(answer);
      if (!answer.usable) return 1;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  out = std::atoi(argv[2]);
  session.emplace(std::atoi(argv[1]), out);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const char* mode_text = std::getenv("TUNER_TEST_WORKER");
  const std::string mode = mode_text == nullptr ? "" : mode_text;
  if (mode == "dies") return 7;
  try {
    return serve(mode);
  } catch (const PipeClosed&) {
    return 0;
  }
}
