#include <tuner/mpi/relay.hpp>

#include <poll.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tuner/mpi/byte_queue.hpp>
#include <tuner/mpi/patience.hpp>
#include <tuner/worker/link.hpp>

namespace tuner::mpi {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostSending = 256;  // frames; while more are queued, kernels' output is not read

class Relay {
 public:
  Relay(Communicator& world, const std::filesystem::path& program) : world_(world), program_(program) {}

  void run() {
    Patience patience;
    std::vector<pollfd> fds;
    while (!done_) {
      fds.clear();
      const bool hears = world_.sending() < kMostSending;  // endless output waits, as for a full pipe
      for (auto& [channel, child] : children_) {
        child.polled = fds.size();
        fds.push_back({child.open ? child.process->read_fd() : -1, POLLIN, 0});
        fds.push_back({child.says && hears ? child.process->error_fd() : -1, POLLIN, 0});
        if (child.open && !child.in.empty()) fds.push_back({child.process->write_fd(), POLLOUT, 0});
      }
      bool busy = patience.poll(fds);
      carry(fds);
      for (int i = 0; i < kFramesATurn; ++i) {
        std::optional<Frame> frame = world_.receive();
        if (!frame) break;
        arrived(std::move(*frame));
        busy = true;
      }
      patience.saw(busy);
    }
    children_.clear();
  }

 private:
  struct Child {
    std::unique_ptr<worker::WorkerProcess> process;
    ByteQueue in;
    bool open = true;  // false: its pipe is closed and it is about to end
    bool says = true;
    std::size_t polled = 0;  // index among this turn's descriptors
  };

  void carry(const std::vector<pollfd>& fds) {
    const bool ask = Clock::now() >= ask_again_;
    if (ask) ask_again_ = Clock::now() + std::chrono::milliseconds(50);
    for (auto at = children_.begin(); at != children_.end();) {
      const std::uint64_t channel = at->first;
      Child& child = at->second;
      if (ask && child.process->was_stopped()) world_.send(0, FrameKind::stopped, channel);
      child.in.write_to(child.process->write_fd());
      if (fds[child.polled].revents != 0) pass_on(FrameKind::data, channel, child.process->read_fd(), child.open);
      if (fds[child.polled + 1].revents != 0) pass_on(FrameKind::said, channel, child.process->error_fd(), child.says);
      if (!child.open && has_ended(channel, child))
        at = children_.erase(at);
      else
        ++at;
    }
  }

  /// Returns whether something came.
  bool pass_on(FrameKind kind, std::uint64_t channel, int fd, bool& open) {
    const std::span<const std::byte> bytes = reader_.read(fd, open);
    if (!bytes.empty()) world_.send(0, kind, channel, bytes);
    return !bytes.empty();
  }

  /// Does not wait: a worker with a hanging kernel may take seconds, and the others must continue.
  bool has_ended(std::uint64_t channel, Child& child) {
    while (child.says && pass_on(FrameKind::said, channel, child.process->error_fd(), child.says)) {
    }
    const std::optional<worker::WorkerEnd>& end = child.process->ended();
    if (end) ended(channel, *end);
    return end.has_value();
  }

  void ended(std::uint64_t channel, const worker::WorkerEnd& end) {
    std::vector<std::byte> bytes{std::byte{end.from_outside}};
    for (const char letter : end.text) bytes.push_back(static_cast<std::byte>(letter));
    world_.send(0, FrameKind::ended, channel, bytes);
  }

  void arrived(Frame frame) {
    if (frame.kind == FrameKind::quit) done_ = true;
    if (frame.kind == FrameKind::start) return start(frame.channel);
    const auto at = children_.find(frame.channel);
    if (at == children_.end()) return;  // it has ended meanwhile
    if (frame.kind == FrameKind::data) at->second.in.push(std::move(frame.bytes));
    if (frame.kind == FrameKind::kill) at->second.process->kill();
  }

  void start(std::uint64_t channel) try {
    children_.emplace(channel, Child{std::make_unique<worker::WorkerProcess>(program_), {}});
  } catch (const WorkerError& error) {
    ended(channel, {error.what(), false});
  }

  Communicator& world_;
  const std::filesystem::path& program_;
  std::map<std::uint64_t, Child> children_;
  ByteReader reader_;
  bool done_ = false;
  Clock::time_point ask_again_;
};

}  // namespace

void relay(Communicator& world, const std::filesystem::path& program) { Relay(world, program).run(); }

}  // namespace tuner::mpi
