// Files that kernels and their data are read from: each kind of data file, and the ways in which a file is none.

#include <cstring>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>
#include <tuner/core/values/input_file.hpp>
#include <tuner/error.hpp>

namespace tuner {
namespace {

namespace fs = std::filesystem;

class DataFile : public ::testing::Test {
 protected:
  fs::path write(const std::string& bytes) const { return folder_.write("a.npy", bytes); }
  /// A file in the format of numpy.save().
  fs::path npy(const std::string& dictionary, const std::string& data) const {
    std::string header = dictionary + std::string(54 - dictionary.size() % 64 + 64, ' ');
    header.resize(118, ' ');
    header.back() = '\n';
    return write(std::string("\x93NUMPY\x01\0", 8) + char(header.size()) + '\0' + header + data);
  }
  std::string refused(const fs::path& file, ElementType type, std::size_t count) const {
    return error_of([&] { read_data_file(file, type, count); });
  }

  testing::TemporaryFolder folder_;
  const std::string six_ = std::string("\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\5\0\0\0\6\0\0\0", 24);
};

TEST_F(DataFile, IsReadAsNumPyWritesItOrRaw) {
  for (const auto& file : {npy("{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }", six_), write(six_)}) {
    const std::vector<std::byte> bytes = read_data_file(file, ElementType::int32, 6);
    ASSERT_EQ(bytes.size(), 24u);
    EXPECT_EQ(std::memcmp(bytes.data(), six_.data(), 24), 0);
  }
}

TEST_F(DataFile, IsRefusedWithBothTypesShapesAndSizesWhereTheyDiffer) {
  const auto file = npy("{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }", six_);
  EXPECT_THAT(refused(file, ElementType::float32, 6),
              HasSubstr("a.npy holds elements of type '<i4', not float ('<f4')"));
  EXPECT_THAT(refused(file, ElementType::int32, 7), HasSubstr("a.npy holds 6 elements, of shape (2, 3), not 7"));
  EXPECT_THAT(refused(npy("{'descr': '>i4', 'fortran_order': False, 'shape': (6,), }", six_), ElementType::int32, 6),
              HasSubstr("their byte order is reversed"));
  EXPECT_THAT(refused(npy("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }", six_), ElementType::int32, 6),
              HasSubstr("is in Fortran order"));
  EXPECT_THAT(refused(npy("{'descr': '<i4', 'fortran_order': False, 'shape': (7,), }", six_), ElementType::int32, 7),
              HasSubstr("holds 24 bytes of data, not the 28 of 7 elements of int"));
  EXPECT_THAT(refused(npy("{'shape': 3}", six_), ElementType::int32, 6), HasSubstr("its header cannot be read"));
  EXPECT_THAT(refused(write(six_), ElementType::float64, 6),
              HasSubstr("a.npy holds 24 bytes of data, not the 48 of 6 elements of double"));
  EXPECT_THAT(refused(folder_ / "none.npy", ElementType::int32, 6), HasSubstr("none.npy"));
}

TEST_F(DataFile, SurvivesWhateverAHeaderSays) {
  const std::string whole = std::string("\x93NUMPY\x01\0\x76\0", 10) +
                            "{'descr': '<i4', 'fortran_order': False, 'shape': (99999999999999999999, 3), }";
  for (std::size_t length = 0; length <= whole.size(); ++length)
    EXPECT_NE(refused(write(whole.substr(0, length)), ElementType::int32, 6), "no error");
}

TEST_F(DataFile, IsWrittenAsItIsRead) {
  for (const ElementType type :
       {ElementType::int8, ElementType::int16, ElementType::bfloat16, ElementType::float32, ElementType::e4m3,
        ElementType::e5m2, ElementType::e2m3, ElementType::e2m1x2, ElementType::e8m0, ElementType::tf32}) {
    const std::string header = npy_header(type, 24 / static_cast<std::size_t>(info(type).bytes));
    EXPECT_EQ(header.size() % 64, 0u) << "as NumPy aligns its data";
    const auto bytes = read_data_file(write(header + six_), type, 24 / static_cast<std::size_t>(info(type).bytes));
    EXPECT_EQ(std::memcmp(bytes.data(), six_.data(), six_.size()), 0) << info(type).name;
  }
  EXPECT_THAT(npy_header(ElementType::float32, 7),
              HasSubstr("{'descr': '<f4', 'fortran_order': False, 'shape': (7,), }"));
}

TEST_F(DataFile, HoldsFp8AsMlDtypesWritesIt) {
  const std::string header = "{'descr': '<f1', 'fortran_order': False, 'shape': (24,), }";
  EXPECT_EQ(read_data_file(npy(header, six_), ElementType::e4m3, 24).size(), 24u);
  EXPECT_THAT(refused(npy(header, six_), ElementType::uint8, 24), HasSubstr("elements of type '<f1', not uint8"));
}

class InputFile : public ::testing::Test {
 protected:
  static std::string complaint(const fs::path& path, std::int64_t limit = 100) {
    return error_of([&] { read_input_file(path, limit, "kernel file"); });
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
  EXPECT_THAT(complaint(folder_ / "fifo.cu"), HasSubstr("not a regular file"));
  EXPECT_THAT(complaint("/dev/zero"), HasSubstr("not a regular file"));
  EXPECT_THAT(complaint(folder_.path()), HasSubstr("a folder"));
  EXPECT_THAT(complaint(folder_ / "none.cu"), HasSubstr("no such file"));
}

TEST_F(InputFile, HasALimitWhereItsSizeIsNotKnown) {  // files of /proc say that they are empty
  EXPECT_THAT(complaint("/proc/self/status"), HasSubstr("larger than 100 bytes"));
}

}  // namespace
}  // namespace tuner
