#include <tuner/worker/link.hpp>

#include <unistd.h>

#include <chrono>

#include <tests/support/testing.hpp>

namespace tuner::worker {
namespace {

/// The side of a worker that a test controls: the other ends of its pipes, and its end.
struct Worker {
  Pipe to, from, said;
  bool killed = false;
  std::optional<WorkerEnd> end;  // the answer of ask_end()
};

class WorkerOfATest final : public WorkerLink {
 public:
  explicit WorkerOfATest(std::shared_ptr<Worker> worker)
      : WorkerLink(std::chrono::seconds(60)), worker_(std::move(worker)) {
    take_pipes(std::exchange(worker_->to.write, -1), std::exchange(worker_->from.read, -1),
               std::exchange(worker_->said.read, -1));
  }
  void kill() override { worker_->killed = true; }
  bool take_stop() override { return false; }

 private:
  std::optional<WorkerEnd> ask_end() override { return worker_->end; }
  std::shared_ptr<Worker> worker_;
};

class WorkerSlotTest : public ::testing::Test {
 protected:
  WorkerSlotTest() {
    slot.start([this] { return std::make_unique<WorkerOfATest>(worker); });
  }
  /// One turn of a loop that does not wait.
  std::optional<WorkerEnd> turn() {
    std::vector<pollfd> fds;
    wake_up.reset();
    slot.collect(fds, wake_up);
    descriptors = fds.size();
    ::poll(fds.data(), fds.size(), 0);
    return slot.react(fds, [this](const Message&) { ++messages; });
  }
  void write(const std::vector<std::byte>& bytes) {
    ASSERT_EQ(::write(worker->from.write, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }

  /// Time passes only if a test moves it.
  static inline Clock::time_point time{};

  std::shared_ptr<Worker> worker = std::make_shared<Worker>();
  WorkerSlot slot{[] { return time; }};
  std::optional<Clock::time_point> wake_up;
  std::size_t descriptors = 0, messages = 0;
};

TEST_F(WorkerSlotTest, DoesNotWaitForAWorkerThatTakesLongToDie) {
  slot.expect_within(0);
  EXPECT_FALSE(turn().has_value());
  EXPECT_TRUE(worker->killed);
  EXPECT_FALSE(slot.running());
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(turn().has_value());
    EXPECT_EQ(descriptors, 0u) << "nothing of it is waited for";
    EXPECT_TRUE(wake_up.has_value()) << "it is asked again";
  }
  worker->end = WorkerEnd{"killed by signal 9", true};
  const std::optional<WorkerEnd> loss = turn();
  ASSERT_TRUE(loss.has_value());
  EXPECT_TRUE(loss->hung);
  EXPECT_FALSE(loss->from_outside) << "it was we who killed it";
  EXPECT_THAT(loss->text, HasSubstr("did not answer for 0.0 s"));
  EXPECT_FALSE(turn().has_value());
}

TEST_F(WorkerSlotTest, CountsTheBeatsOfAWorkerAndNotTheClock) {
  slot.expect_within(1);
  for (int i = 0; i < 20; ++i) {
    time += std::chrono::hours(1);  // this process or the worker is paused
    EXPECT_FALSE(turn().has_value());
  }
  write(encode(Beat{0.6}));
  EXPECT_FALSE(turn().has_value());
  EXPECT_TRUE(slot.running());
  slot.expect_within(1);
  write(encode(Beat{0.6}));
  EXPECT_FALSE(turn().has_value());
  EXPECT_TRUE(slot.running()) << "the beats are those since its last message";
  write(encode(Beat{0.6}));
  worker->end = WorkerEnd{"killed by signal 9", true};
  const std::optional<WorkerEnd> loss = turn();
  ASSERT_TRUE(loss.has_value());
  EXPECT_TRUE(loss->hung);
  EXPECT_FALSE(loss->from_outside);
  EXPECT_EQ(messages, 0u) << "beats are for the slot alone";
}

TEST_F(WorkerSlotTest, TakesTheAnswerThatCameBeforeTheBeatsOfAPause) {
  slot.expect_within(1);
  write(encode(Prepared{}));
  write(encode(Beat{100}));
  (void)turn();
  EXPECT_EQ(messages, 1u);
}

TEST_F(WorkerSlotTest, DoesNotBlameOneThatNeverRan) {
  slot.expect_within(1);
  worker->end = WorkerEnd{"killed by signal 9", true};
  std::optional<WorkerEnd> loss;
  int turns = 0;
  for (; turns < 1000 && !loss; ++turns) {
    time += std::chrono::seconds(10);
    loss = turn();
  }
  ASSERT_TRUE(loss.has_value());
  EXPECT_GE(turns, 120) << "a minute of this process's own time";
  EXPECT_TRUE(loss->hung);
  EXPECT_TRUE(loss->from_outside);
}

TEST_F(WorkerSlotTest, LearnsFromLastWordsHowOneEndedWhoseEndSomebodyElseTook) {
  struct Case {
    std::optional<int> signal;
    const char* text;
    bool from_outside, exited;
  };
  for (const auto& [signal, text, from_outside, exited] :
       {Case{std::nullopt, "lost, saying: hello", true, false},
        Case{11, "killed by signal 11 (Segmentation fault), saying: hello", false, false},
        Case{0, "ended by exit(), saying: hello", false, true}}) {
    worker = std::make_shared<Worker>();
    slot.start([this] { return std::make_unique<WorkerOfATest>(worker); });
    if (signal) write(encode(LastWords{*signal}));
    ASSERT_EQ(::write(worker->said.write, "hello", 5), 5);
    ::close(std::exchange(worker->from.write, -1));
    worker->end = WorkerEnd{.text = "lost", .from_outside = true, .unknown = true};
    std::optional<WorkerEnd> loss = turn();
    if (!loss) loss = turn();  // the first one read the words only
    ASSERT_TRUE(loss.has_value());
    EXPECT_EQ(loss->text, text);
    EXPECT_EQ(loss->from_outside, from_outside);
    EXPECT_EQ(loss->exited, exited);
  }
}

TEST_F(WorkerSlotTest, TellsHowOneEndedThatClosedItsPipe) {
  ::close(std::exchange(worker->from.write, -1));
  EXPECT_FALSE(turn().has_value()) << "its pipe is closed before it is dead";
  EXPECT_FALSE(slot.running());
  EXPECT_FALSE(worker->killed) << "how it ends is its own";
  worker->end = WorkerEnd{"killed by signal 11", false};
  const std::optional<WorkerEnd> loss = turn();
  ASSERT_TRUE(loss.has_value());
  EXPECT_FALSE(loss->hung);
  EXPECT_EQ(loss->text, "killed by signal 11");
}

TEST_F(WorkerSlotTest, HearsNothingFromOneThatIsToEnd) {
  slot.end({"enough", true});
  write(encode(Prepared{}));
  EXPECT_FALSE(turn().has_value());
  worker->end = WorkerEnd{"ended with status 0", false};
  const std::optional<WorkerEnd> loss = turn();
  ASSERT_TRUE(loss.has_value());
  EXPECT_EQ(loss->text, "enough");
  EXPECT_TRUE(loss->from_outside);
  EXPECT_EQ(messages, 0u);
}

TEST_F(WorkerSlotTest, EndsOneThatBabblesAtOnceWhereItIsDead) {
  worker->end = WorkerEnd{"killed by signal 9", true};
  write(std::vector<std::byte>(64, std::byte{'?'}));
  const std::optional<WorkerEnd> loss = turn();
  ASSERT_TRUE(loss.has_value());
  EXPECT_TRUE(worker->killed);
  EXPECT_FALSE(loss->text.empty());
}

TEST_F(WorkerSlotTest, TakesAnotherInThePlaceOfOneThatIsGone) {
  worker->end = WorkerEnd{"killed by signal 9", true};
  slot.end({});
  ASSERT_TRUE(turn().has_value());
  worker = std::make_shared<Worker>();
  slot.start([this] { return std::make_unique<WorkerOfATest>(worker); });
  EXPECT_TRUE(slot.running());
  write(encode(Prepared{}));
  EXPECT_FALSE(turn().has_value());
  EXPECT_EQ(messages, 1u);
  worker->end = WorkerEnd{"killed by signal 9", true};
}

TEST(WorkerEndTest, IsCarriedBetweenHostsWhole) {
  for (const WorkerEnd& end : {WorkerEnd{"ended with status 3", false, false, true}, WorkerEnd{"", true},
                               WorkerEnd{"did not answer", false, true}, WorkerEnd{"lost", true, false, false, true}}) {
    const WorkerEnd back = worker_end(bytes_of(end));
    EXPECT_EQ(back.text, end.text);
    EXPECT_EQ(back.from_outside, end.from_outside);
    EXPECT_EQ(back.hung, end.hung);
    EXPECT_EQ(back.exited, end.exited);
    EXPECT_EQ(back.unknown, end.unknown);
  }
  EXPECT_EQ(worker_end({}).text, "");
}

}  // namespace
}  // namespace tuner::worker
