#include <tuner/core/input_file.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include <tests/matchers.hpp>
#include <tests/temporary_folder.hpp>
#include <tuner/core/error.hpp>

namespace tuner {
namespace {

namespace fs = std::filesystem;

class InputFile : public ::testing::Test {
 protected:
  static std::string complaint(const fs::path& path, std::int64_t limit = 100) {
    try {
      read_input_file(path, limit, "kernel file");
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  const testing::TemporaryFolder folder_;
};

TEST_F(InputFile, IsReadWhole) {
  std::ofstream(folder_ / "a.cu") << std::string(100, 'x');
  EXPECT_EQ(read_input_file(folder_ / "a.cu", 100, "kernel file"), std::string(100, 'x'));
  std::ofstream(folder_ / "empty.cu").flush();
  EXPECT_EQ(read_input_file(folder_ / "empty.cu", 100, "kernel file"), "");
}

TEST_F(InputFile, IsRefusedWhenItIsTooLarge) {
  std::ofstream(folder_ / "a.cu") << std::string(101, 'x');
  EXPECT_THAT(complaint(folder_ / "a.cu"), HasSubstr("a.cu': it is larger than 100 bytes"));
}

TEST_F(InputFile, IsRefusedUnlessItIsARegularFile) {
  ASSERT_EQ(::mkfifo((folder_ / "fifo.cu").c_str(), 0600), 0);
  EXPECT_THAT(complaint(folder_ / "fifo.cu"), HasSubstr("no regular file"));
  EXPECT_THAT(complaint("/dev/zero"), HasSubstr("no regular file"));
  EXPECT_THAT(complaint(folder_.path()), HasSubstr("a folder"));
  EXPECT_THAT(complaint(folder_ / "none.cu"), HasSubstr("no such file"));
}

TEST_F(InputFile, HasALimitWhereItsSizeIsNotKnown) {  // files of /proc say that they are empty
  EXPECT_THAT(complaint("/proc/self/status"), HasSubstr("larger than 100 bytes"));
}

}  // namespace
}  // namespace tuner
