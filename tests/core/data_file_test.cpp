#include <tuner/core/input_file.hpp>

#include <cstring>
#include <fstream>
#include <string>

#include <tests/error_of.hpp>
#include <tests/matchers.hpp>
#include <tests/temporary_folder.hpp>

namespace tuner {
namespace {

class DataFile : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& bytes) const {
    const std::filesystem::path file = folder_ / "a.npy";
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }
  /// A file in the format of numpy.save().
  std::filesystem::path npy(const std::string& dictionary, const std::string& data) const {
    std::string header = dictionary + std::string(54 - dictionary.size() % 64 + 64, ' ');
    header.resize(118, ' ');
    header.back() = '\n';
    return write(std::string("\x93NUMPY\x01\0", 8) + char(header.size()) + '\0' + header + data);
  }
  std::string refused(const std::filesystem::path& file, ElementType type, std::size_t count) const {
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
  for (const ElementType type : {ElementType::int8, ElementType::int16, ElementType::bfloat16, ElementType::float32}) {
    const std::string header = npy_header(type, 24 / static_cast<std::size_t>(info(type).bytes));
    EXPECT_EQ(header.size() % 64, 0u) << "as NumPy aligns its data";
    const auto bytes = read_data_file(write(header + six_), type, 24 / static_cast<std::size_t>(info(type).bytes));
    EXPECT_EQ(std::memcmp(bytes.data(), six_.data(), six_.size()), 0) << info(type).name;
  }
  EXPECT_THAT(npy_header(ElementType::float32, 7),
              HasSubstr("{'descr': '<f4', 'fortran_order': False, 'shape': (7,), }"));
}

}  // namespace
}  // namespace tuner
