#include <tuner/recording/launch_recording.hpp>

#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/core/values/input_file.hpp>
#include <tuner/recording/kernel_copy.hpp>
#include <tuner/recording/recording_writer.hpp>
#include <tuner/session/tuning/tuning.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>

#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>

namespace tuner {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAdd = R"(
#pragma tuner kernel add
#pragma tuner type T = float double
#pragma tuner size n = 100
#pragma tuner parameter block = 32 64
#pragma tuner in x[n]
#pragma tuner inout y[n]
#pragma tuner scalar shift : int64 = 1
#pragma tuner grid ceil_div(n, block)
#pragma tuner block block
#pragma tuner arguments x, y, shift, n
#pragma tuner instantiate add<T, block>
)";

class RecordingTest : public ::testing::Test {
 protected:
  RecordingTest() { device_.key.backend = "host"; }

  std::unique_ptr<RecordingWriter> begun(const std::string& name = "add.recording") {
    return std::make_unique<RecordingWriter>(folder_.path(), name, spec_, size_, device_,
                                             to_record(spec_, {}).source_hash);
  }
  void add(RecordingWriter& writer, const std::string& buffer, RecordingWriter::When when, float value) {
    const std::vector<float> values(3, value);
    writer.add_buffer(buffer, when, ElementType::float32, values.size(),
                      [&](void* to, std::size_t offset, std::size_t bytes) {
                        std::memcpy(to, reinterpret_cast<const char*>(values.data()) + offset, bytes);
                      });
  }
  /// A complete, published recording.
  fs::path recorded(const std::string& name = "add.recording", float x = 1) {
    const auto writer = begun(name);
    writer->set_configuration(Configuration{{"block", 64}});
    writer->add_scalar("shift", "9007199254740993");
    add(*writer, "x", RecordingWriter::When::before, x);
    add(*writer, "y", RecordingWriter::When::before, 2);
    add(*writer, "y", RecordingWriter::When::after, 3);
    EXPECT_TRUE(writer->publish());
    return writer->path();
  }
  /// The error of reading the recording after \p change of recording.json.
  std::string error_after(const std::function<void(nlohmann::json&)>& change) {
    const fs::path path = recorded("changed-" + std::to_string(++changes_));
    nlohmann::json list = nlohmann::json::parse(testing::read_file(path / kRecordingFile));
    change(list);
    testing::write_file(path / kRecordingFile, list.dump());
    return error_of([&] { read_recording(path); });
  }

  const testing::TemporaryFolder folder_;
  const KernelSpec spec_ = parse_kernel_file(kAdd, "add.cu");
  const ProblemSize size_ = complete(spec_, {{{"n", 3}}, {{"T", "float"}}});
  Device device_;
  int changes_ = 0;
};

TEST_F(RecordingTest, GivesBackWhatWasRecorded) {
  const fs::path path = recorded();
  for (const fs::path& given : {path, path / kRecordingFile}) {
    const Recording recording = read_recording(given);
    EXPECT_EQ(recording.spec.name, "add");
    EXPECT_EQ(to_record(recording.spec, {}), to_record(spec_, {}));
    EXPECT_EQ(recording.size, size_);
    EXPECT_EQ(recording.configuration, (Configuration{{"block", 64}}));
    EXPECT_EQ(recording.backend, "host");
    EXPECT_EQ(recording.data.scalars.at("shift"), "9007199254740993");
    ASSERT_EQ(recording.data.inputs.size(), 2u);
    ASSERT_EQ(recording.data.outputs.size(), 1u);
    const auto bytes = read_data_file(recording.data.outputs.at("y"), ElementType::float32, 3);
    float last = 0;
    std::memcpy(&last, bytes.data() + 8, sizeof last);
    EXPECT_EQ(last, 3);
  }
}

TEST_F(RecordingTest, TellsOtherInputsApartByTheDigest) {
  const std::string one = read_recording(recorded("one")).data.digest;
  EXPECT_EQ(read_recording(recorded("two")).data.digest, one);
  EXPECT_NE(read_recording(recorded("three", 7)).data.digest, one);
}

TEST_F(RecordingTest, HasTheSameDigestInAnyOrderOfItsMembers) {
  const fs::path path = recorded();
  const std::string digest = read_recording(path).data.digest;
  auto list = nlohmann::ordered_json::parse(testing::read_file(path / kRecordingFile));
  nlohmann::ordered_json buffers;
  for (const char* name : {"y", "x"}) buffers[name] = list["buffers"][name];
  ASSERT_EQ(buffers.size(), list["buffers"].size());
  ASSERT_NE(buffers.dump(), list["buffers"].dump());
  list["buffers"] = buffers;
  testing::write_file(path / kRecordingFile, list.dump());
  EXPECT_EQ(read_recording(path).data.digest, digest);
}

TEST_F(RecordingTest, NamesARecordingAfterItsKernelAndProblem) {
  const std::string name = recording_name(spec_, size_, "0123");
  EXPECT_THAT(name, ::testing::MatchesRegex("add-T=float-n=3-[0-9a-f]{8}\\.recording"));
  EXPECT_NE(name, recording_name(spec_, size_, "4567")) << "another kernel";
}

TEST_F(RecordingTest, LeavesNothingOfARecordingThatWasNotFinished) {
  begun().reset();
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(RecordingTest, LeavesNothingWhereABufferCannotBeCopied) {
  {
    const auto writer = begun();
    const auto fail = [&] {
      writer->add_buffer("x", RecordingWriter::When::before, ElementType::float32, 3,
                         [](void*, std::size_t, std::size_t) { throw Error("the device is gone"); });
    };
    EXPECT_THAT(error_of(fail), HasSubstr("gone"));
  }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(RecordingTest, SaysWhatCannotBeWrittenAndLeavesNothingOnAFullDisk) {
  {
    const auto writer = begun();
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit little{1 << 16, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
    const std::string error = error_of([&] {
      writer->add_buffer("x", RecordingWriter::When::before, ElementType::float32, 1 << 20,
                         [](void* to, std::size_t, std::size_t bytes) { std::memset(to, 1, bytes); });
    });
    ::setrlimit(RLIMIT_FSIZE, &before);
    ::signal(SIGXFSZ, SIG_DFL);
    EXPECT_THAT(error, AllOf(HasSubstr("cannot write"), HasSubstr("x.before.npy")));
  }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(RecordingTest, ResumesNoTrialsOfOtherInputs) {
  TuningOptions plain, recorded_once, recorded_again;
  recorded_once.measure.recorded = read_recording(recorded("one")).data;
  recorded_again.measure.recorded = read_recording(recorded("two", 7)).data;
  EXPECT_NE(conditions_text(recorded_once, spec_), conditions_text(plain, spec_));
  EXPECT_NE(conditions_text(recorded_once, spec_), conditions_text(recorded_again, spec_));
}

TEST_F(RecordingTest, KeepsTheRecordingThatWasPublishedFirst) {
  const auto late = begun();
  const fs::path path = recorded();
  EXPECT_FALSE(late->publish());
  EXPECT_EQ(read_recording(path).data.inputs.size(), 2u);
}

TEST_F(RecordingTest, CanBeReadByItsOwnerOnly) {
  EXPECT_EQ(fs::status(recorded()).permissions(), fs::perms::owner_all);
}

TEST_F(RecordingTest, SeesThatABufferHasChanged) {
  const fs::path path = recorded();
  const fs::path file = path / "x.before.npy";
  std::string bytes = testing::read_file(file);
  bytes.back() = '\7';
  testing::write_file(file, bytes);
  EXPECT_THAT(error_of([&] { read_recording(path); }), HasSubstr("x.before.npy has changed since it was recorded"));
  fs::resize_file(file, bytes.size() - 1);
  EXPECT_THAT(error_of([&] { read_recording(path); }), HasSubstr("that were recorded"));
}

TEST_F(RecordingTest, SeesThatTheKernelIsAnotherOne) {
  const fs::path path = recorded();
  std::ofstream(path / "kernel/add.cu", std::ios::app) << "// changed\n";
  EXPECT_THAT(error_of([&] { read_recording(path); }), HasSubstr("has changed since it was recorded"));
}

TEST_F(RecordingTest, RefusesWhatIsNoRecording) {
  EXPECT_THAT(error_of([&] { read_recording(folder_ / "none"); }), HasSubstr("there is no such file"));
  for (const fs::path& file : {folder_.write("text", "text"), folder_.write("other.json", "{\"a\": 1}")})
    EXPECT_THAT(error_of([&] { read_recording(file); }), HasSubstr("it is not a recording")) << file;
  EXPECT_THAT(error_after([](auto& list) { list["version"] = 2; }), HasSubstr("its version is 2"));
  EXPECT_THAT(error_after([](auto& list) { list["sizes"] = 7; }), HasSubstr("recording.json"));
  EXPECT_THAT(error_after([](auto& list) { list["scalars"]["shfit"] = "1"; }), HasSubstr("no scalar 'shfit'"));
  EXPECT_THAT(error_after([](auto& list) { list["scalars"]["shift"] = "one"; }), HasSubstr("not a number"));
  EXPECT_THAT(error_after([](auto& list) { list["scalars"] = nullptr; }), HasSubstr("not have the scalar 'shift'"));
  EXPECT_THAT(error_after([](auto& list) { list["buffers"]["z"] = list["buffers"]["x"]; }), HasSubstr("no buffer 'z'"));
}

TEST_F(RecordingTest, ReadsNoFileOutsideOfItsFolder) {
  for (const char* name : {"/etc/passwd", "../add.recording/x.before.npy", "kernel/../../x", ""})
    EXPECT_THAT(error_after([&](auto& list) { list["buffers"]["x"]["before"]["file"] = name; }),
                HasSubstr("is not a file of the recording"))
        << name;
}

TEST_F(RecordingTest, FollowsNoLinkOutOfItsFolder) {
  const fs::path outside = recorded("other") / "x.before.npy";
  const fs::path path = recorded();
  fs::remove(path / "x.before.npy");
  fs::create_symlink(outside, path / "x.before.npy");
  EXPECT_THAT(error_of([&] { read_recording(path); }), HasSubstr("a symbolic link leads out of its folder"));
  fs::remove(path / "x.before.npy");
  fs::copy_file(outside, path / "real.npy");
  fs::create_symlink("real.npy", path / "x.before.npy");
  EXPECT_EQ(read_recording(path).data.inputs.size(), 2u) << "a link to a file of the folder";
  fs::rename(path / "kernel", folder_ / "kernel");
  fs::create_directory_symlink(folder_ / "kernel", path / "kernel");
  EXPECT_THAT(error_of([&] { read_recording(path); }), HasSubstr("'kernel/add.cu' is not a file of the recording"));
}

TEST_F(RecordingTest, TakesOnlyIntegersWhereItHasIntegers) {
  for (const char* number : {"1.5", "true", "\"3\"", "18446744073709551615", "1e300", "null"}) {
    const auto value = nlohmann::json::parse(number);
    EXPECT_THAT(error_after([&](auto& list) { list["sizes"]["n"] = value; }), HasSubstr("'n' is ")) << number;
    EXPECT_THAT(error_after([&](auto& list) { list["version"] = value; }), HasSubstr("'version' is ")) << number;
    EXPECT_THAT(error_after([&](auto& list) { list["buffers"]["x"]["before"]["bytes"] = value; }),
                HasSubstr("'bytes' is "))
        << number;
  }
  EXPECT_THAT(error_after([](auto& list) { list["version"] = (std::int64_t{1} << 32) + 1; }),
              HasSubstr("its version is 4294967297"));
}

constexpr const char* kDirectives = R"(
#pragma tuner kernel copy
#pragma tuner size n = 100
#pragma tuner parameter block = 32 64
#pragma tuner in x[n] : float
#pragma tuner out y[n] : float
#pragma tuner grid ceil_div(n, block)
#pragma tuner block block
#pragma tuner arguments x, y, n
#pragma tuner instantiate copy<block>
)";

class KernelCopyTest : public ::testing::Test {
 protected:
  std::string hash(const fs::path& kernel) { return to_record(read_kernel_file(kernel), {}).source_hash; }
  /// app/kernels/copy.cu with \p directives.
  KernelSpec kernel(const std::string& directives) {
    folder_.write("app/kernels/copy.cu", kDirectives + directives);
    return read_kernel_file(folder_ / "app/kernels/copy.cu");
  }
  /// The place of the copy.
  fs::path copied(const KernelSpec& spec) { return folder_ / "copy" / copy_kernel(spec, folder_ / "copy"); }
  fs::path copied(const std::string& directives) { return copied(kernel(directives)); }
  std::string original() { return hash(folder_ / "app/kernels/copy.cu"); }

  const testing::TemporaryFolder folder_;
};

TEST_F(KernelCopyTest, StaysTheSameKernelWithoutTheOriginal) {
  folder_.write("app/kernels/near.h", "#include \"../common/far.h\"\n");
  folder_.write("app/common/far.h", "#include <named.h>\n");
  folder_.write("app/include/named.h", "#define NAMED 1\n");
  folder_.write("app/text/copy_kernel.cu", "#include \"near.h\"\n");
  folder_.write("app/kernels/x.raw", std::string(400, 'x'));
  const fs::path copy = copied(
      "#pragma tuner include_path \"../include\"\n#pragma tuner source \"../text/copy_kernel.cu\"\n"
      "#pragma tuner fill x = file \"x.raw\"\n#include \"near.h\"\n");
  const std::string wanted = original();
  fs::remove_all(folder_ / "app");
  EXPECT_EQ(hash(copy), wanted);
  EXPECT_EQ(copy, folder_ / "copy/kernels/copy.cu");
  EXPECT_TRUE(fs::exists(folder_ / "copy/include/named.h"));
}

TEST_F(KernelCopyTest, TakesTheFilesThatFieldsAreFilledFrom) {
  folder_.write("app/kernels/mass.raw", std::string(400, 'x'));
  const fs::path copy = copied(
      "#pragma tuner in stars[n] : { float mass; int id; }\n#pragma tuner fill stars.mass = file \"mass.raw\"\n");
  const std::string wanted = original();
  fs::remove_all(folder_ / "app");
  EXPECT_EQ(hash(copy), wanted);
}

TEST_F(KernelCopyTest, LeavesWhatIsNamedByAnAbsolutePathWhereItIs) {
  folder_.write("library/big.h", "#define BIG 1\n");
  const fs::path copy =
      copied("#pragma tuner include_path \"" + (folder_ / "library").string() + "\"\n#include <big.h>\n");
  EXPECT_EQ(copy, folder_ / "copy/copy.cu");
  EXPECT_EQ(hash(copy), original());
  EXPECT_FALSE(fs::exists(folder_ / "copy/library"));
}

TEST_F(KernelCopyTest, LeavesAHeaderThatAnotherHeaderNamesByAnAbsolutePathWhereItIs) {
  folder_.write("library/big.h", "#define BIG 1\n");
  folder_.write("app/kernels/near.h", "#include \"" + (folder_ / "library/big.h").string() + "\"\n");
  copied("#include \"near.h\"\n");
  EXPECT_TRUE(fs::exists(folder_ / "copy/near.h"));
  EXPECT_FALSE(fs::exists(folder_ / "copy/library"));
}

TEST_F(KernelCopyTest, WritesTheTextThatTheProgramHasNotWhatTheFileHoldsNow) {
  folder_.write("app/kernels/near.h", "// first\n");
  const KernelSpec spec = kernel("#include \"near.h\"\n");
  folder_.write("app/kernels/near.h", "// second\n");
  const fs::path copy = copied(spec);
  EXPECT_EQ(hash(copy), to_record(spec, {}).source_hash);
}

TEST_F(KernelCopyTest, CopiesAKernelThatNoFileHolds) {
  const KernelSpec spec = parse_kernel_file(kDirectives, "copy (built in code)");
  const fs::path copy = copied(spec);
  EXPECT_EQ(hash(copy), to_record(spec, {}).source_hash);
}

TEST_F(KernelCopyTest, SaysWhichFileOfNumbersIsGone) {
  const KernelSpec spec = kernel("#pragma tuner fill x = file \"x.raw\"\n");
  EXPECT_THAT(error_of([&] { copied(spec); }), HasSubstr("x.raw"));
}

}  // namespace
}  // namespace tuner
