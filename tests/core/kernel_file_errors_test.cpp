#include <tuner/core/kernel_file.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel_texts.hpp"

namespace tuner {
namespace {

using ::testing::HasSubstr;
using testing::with_line;

struct Malformed {
  const char* name;
  std::string text;
  int line, column;
  const char* fragment;
};

std::ostream& operator<<(std::ostream& out, const Malformed& malformed) { return out << malformed.name; }

class KernelFileErrors : public ::testing::TestWithParam<Malformed> {};

TEST_P(KernelFileErrors, NameTheirPlaceAndCause) {
  try {
    parse_kernel_file(GetParam().text, "k.cu");
    FAIL() << "was accepted:\n" << GetParam().text;
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), HasSubstr(GetParam().fragment));
    const std::string place =
        "k.cu:" + std::to_string(GetParam().line) + ':' + std::to_string(GetParam().column) + ": ";
    EXPECT_EQ(std::string(error.what()).substr(0, place.size()), place) << error.what();
  }
}

std::string repeated(const std::string& text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

/// 1 … \p count, each behind a blank.
std::string counted(int count) {
  std::string result;
  for (int i = 1; i <= count; ++i) result += ' ' + std::to_string(i);
  return result;
}

/// A kernel with \p count directives `DIRECTIVE0 REST`, `DIRECTIVE1 REST` …
std::string repeated_lines(const std::string& directive, const std::string& rest, int count) {
  std::string result = "#pragma tuner kernel k\n";
  for (int i = 0; i < count; ++i) result += "#pragma tuner " + directive + std::to_string(i) + rest + "\n";
  return result;
}

const Malformed kMalformed[] = {
    {"EmptyFile", "", 1, 1, "no kernel"},
    {"PlainCuda", "__global__ void f() {}\n", 1, 1, "no kernel"},
    {"MissingKernel", with_line(1, ""), 1, 15, "'kernel NAME' must be the first directive"},
    {"TwoKernels", with_line(0, "#pragma tuner kernel other"), 20, 15, "a second 'kernel'; the first is in line 1"},
    {"KernelWithoutName", with_line(1, "#pragma tuner kernel"), 1, 21,
     "expected the kernel's name, not the end of the line"},
    {"EmptyDirective", with_line(0, "#pragma tuner"), 20, 14, "expected a directive"},
    {"UnknownDirective", with_line(0, "#pragma tuner xyzzy 1"), 20, 15, "unknown directive 'xyzzy'"},
    {"MisspeltDirective", with_line(4, "#pragma tuner paramter block = 1 2"), 4, 15,
     "unknown directive 'paramter'; did you mean 'parameter'?"},
    {"MisspeltName", with_line(12, "#pragma tuner grid ceil_div(n, blok)"), 12, 32,
     "unknown name 'blok'; did you mean 'block'?"},
    {"MisspeltNameInALet", with_line(7, "#pragma tuner let tile = block * itens"), 7, 34,
     "unknown name 'itens'; did you mean 'items'?"},
    {"MisspeltNameInAnUnusedLet", with_line(0, "#pragma tuner let other = itens"), 20, 27, "did you mean 'items'?"},
    {"MisspeltLimit", with_line(8, "#pragma tuner constraint w: block % warpsize == 0"), 8, 37,
     "did you mean 'warp_size'?"},
    {"MisspeltFunction", with_line(12, "#pragma tuner grid cel_div(n, block)"), 12, 20,
     "unknown function 'cel_div'; did you mean 'ceil_div'?"},
    {"MisspeltWord", with_line(8, "#pragma tuner constraint s: load != steaming"), 8, 37,
     "'steaming' is no value of 'load'; did you mean 'streaming'?"},
    {"WordInArithmetic", with_line(8, "#pragma tuner constraint s: load + 1 == 2"), 8, 29, "'load' is a word"},
    {"WordComparedWithANumber", with_line(8, "#pragma tuner constraint s: load == 2"), 8, 37,
     "cannot be compared with a number"},
    {"LetUsedBeforeItsDefinition",
     with_line(5, "#pragma tuner parameter items = 1 2 4\n#pragma tuner constraint c: tile > 1"), 6, 29,
     "'tile' is used before the 'let' that defines it, in line 8"},
    {"LetInCppText", with_line(15, "#pragma tuner instantiate add<T, tile>"), 15, 27,
     "'tile' is a 'let' and is not replaced in C++ text"},
    {"UnbalancedOpen", with_line(12, "#pragma tuner grid (n + (block * 2)"), 12, 20, "'(' is never closed"},
    {"UnbalancedClose", with_line(12, "#pragma tuner grid n + block)"), 12, 29,
     "expected an operator or the end of the expression, not ')'"},
    {"CallNeverClosed", with_line(12, "#pragma tuner grid ceil_div(n, block"), 12, 28, "'(' is never closed"},
    {"MissingOperand", with_line(12, "#pragma tuner grid n +"), 12, 23, "expected a value, not the end of the line"},
    {"MissingOperator", with_line(12, "#pragma tuner grid n block"), 12, 22,
     "expected an operator or the end of the expression, not 'block'"},
    {"MissingArgumentOfFunction", with_line(12, "#pragma tuner grid ceil_div(n)"), 12, 20,
     "'ceil_div' takes 2 arguments, not 1"},
    {"DeviceLaunchesWithoutACount", with_line(0, "#pragma tuner device_launches"), 20, 30, "expected a value"},
    {"DeviceLaunchesTwice", with_line(18, "#pragma tuner device_launches 1\n#pragma tuner device_launches 2"), 19, 15,
     "a second 'device_launches'; the first is in line 18"},
    {"DeviceLaunchesOfAnUnknownName", with_line(0, "#pragma tuner device_launches blok"), 20, 31,
     "unknown name 'blok'; did you mean 'block'?"},
    {"CooperativeTwice",
     with_line(13, "#pragma tuner block block\n#pragma tuner cooperative\n#pragma tuner cooperative"), 15, 15,
     "a second 'cooperative' for launch 'add'; the first is in line 14"},
    {"CooperativeOfAnUnknownName", with_line(13, "#pragma tuner block block\n#pragma tuner cooperative blok > 1"), 14,
     27, "unknown name 'blok'; did you mean 'block'?"},
    {"CompileWithAMacro", with_line(0, "#pragma tuner compile -DTILE={tile}"), 20, 23,
     "'-DTILE' is a directive of its own: 'define NAME = EXPRESSION'"},
    {"DefineWithoutAName", with_line(0, "#pragma tuner define"), 20, 21, "expected the name of a macro"},
    {"DefineOfAnUnknownName", with_line(0, "#pragma tuner define items blok"), 20, 28,
     "unknown name 'blok'; did you mean 'block'?"},
    {"DefineWithoutAValue", with_line(0, "#pragma tuner define TILE ="), 20, 28, "expected a value"},
    {"DefineTwice", with_line(18, "#pragma tuner define block\n#pragma tuner define block"), 19, 15,
     "a second 'define block'; the first is in line 18"},
    {"DefineAnotherValueOfAParameter", with_line(0, "#pragma tuner define block = items * 32"), 20, 22,
     "a macro that is called like 'block' has its value"},
    {"DefineAMacroOfTuners", with_line(0, "#pragma tuner define TUNER_TILE = tile"), 20, 22,
     "macros that begin with TUNER are tuner's"},
    {"DefineWhatTheTextDefines", with_line(0, "#pragma tuner define TILE = tile\n#define TILE 32"), 20, 22,
     "line 21 defines 'TILE' anew, or takes it away, which would hide this: put it between '#ifndef TILE' and "
     "'#endif'"},
    {"DefineASizeThatVerifyChanges", with_line(0, "#pragma tuner define N = n"), 17, 27,
     "'n' is in macro 'N', so that code is made for one value of it: 'verify' cannot have another"},
    {"CompileWithoutAnOption", with_line(0, "#pragma tuner compile"), 20, 22, "expected an option"},
    {"CompileOptionWithoutADash", with_line(0, "#pragma tuner compile use_fast_math"), 20, 23, "expected an option"},
    {"CompileOptionsValueBehindABlank", with_line(0, "#pragma tuner compile --maxrregcount 32"), 20, 38,
     "an option's value stands behind its '=', without blanks"},
    {"CompileOptionOfAnUnknownName", with_line(0, "#pragma tuner compile -G --maxrregcount={blok}"), 20, 42,
     "unknown name 'blok'; did you mean 'block'?"},
    {"CompileOptionNeverClosed", with_line(0, "#pragma tuner compile --maxrregcount={block"), 20, 44,
     "expected '}' after the value, not the end of the line"},
    {"CompileOptionWithAValueForItsName", with_line(0, "#pragma tuner compile --{load}=true"), 20, 23,
     "'--' is no option"},
    {"CompileOptionWithAValueInItsName", with_line(0, "#pragma tuner compile --fmad{block}"), 20, 23,
     "the values of '--fmad' stand behind a '='"},
    {"CompileWhenWithoutACondition", with_line(0, "#pragma tuner compile -G when"), 20, 30, "expected a value"},
    {"CompileWhenAnUnknownName", with_line(0, "#pragma tuner compile -G when blok > 1"), 20, 31,
     "unknown name 'blok'; did you mean 'block'?"},
    {"CompileForAnArchitecture", with_line(0, "#pragma tuner compile -use_fast_math -arch=sm_80"), 20, 38,
     "'-arch' is set by tuner, which compiles for the device that runs the kernel"},
    {"CompileByAnotherStandard", with_line(0, "#pragma tuner compile --std=c++20"), 20, 23,
     "'--std' is set by tuner: kernels are C++17"},
    {"CompileForALinker", with_line(0, "#pragma tuner compile -rdc=true"), 20, 23, "say 'device_launches'"},
    {"CompileToNoMachineCode", with_line(0, "#pragma tuner compile -dlto"), 20, 23, "leaves no machine code to run"},
    {"CompileWithAFolder", with_line(0, "#pragma tuner compile -I../include"), 20, 23,
     "write #include \"PATH\", from the kernel file's folder"},
    {"SingleEquals", with_line(8, "#pragma tuner constraint c: items = 4"), 8, 35,
     "expected an operator or the end of the expression, not '='"},
    {"ChainedComparison", with_line(8, "#pragma tuner constraint c: 1 < items < 4"), 8, 39,
     "comparisons cannot be chained"},
    {"AmbiguousNot", with_line(8, "#pragma tuner constraint c: !items == 4"), 8, 36, "can be read two ways"},
    {"TernaryWithoutColon", with_line(12, "#pragma tuner grid n > 1 ? 2"), 12, 29, "expected ':'"},
    {"EmptySet", with_line(8, "#pragma tuner constraint c: items in {}"), 8, 39, "expected a value, not '}'"},
    {"DivisionByZeroInAConstant", with_line(12, "#pragma tuner grid 1 / (2 - 2)"), 12, 22, "division by zero"},
    {"DivisionByTheConstantZero", with_line(12, "#pragma tuner grid n % 0"), 12, 22, "division by zero"},
    {"OverflowInAConstant", with_line(12, "#pragma tuner grid 9223372036854775807 + 1"), 12, 40, "overflow"},
    {"OverflowingLiteral", with_line(12, "#pragma tuner grid 9223372036854775808"), 12, 20, "does not fit 64 bits"},
    {"Hexadecimal", with_line(12, "#pragma tuner grid 0x10"), 12, 20, "'0x10' is not a decimal integer"},
    {"Fraction", with_line(12, "#pragma tuner grid 1.5"), 12, 20, "'1.5' is not a decimal integer"},
    {"DeepNesting", with_line(12, "#pragma tuner grid " + repeated("(", 100000)), 12, 120,
     "nested more than 100 levels"},
    {"DeepNegation", with_line(12, "#pragma tuner grid " + repeated("-", 100000) + "n"), 12, 119,
     "nested more than 100 levels"},
    {"LongChain", with_line(12, "#pragma tuner grid n" + repeated("+n", 100000)), 12, 2019, "too large"},
    {"EmptyParameter", with_line(4, "#pragma tuner parameter block ="), 4, 32, "'block' has no values"},
    {"ParameterWithoutEquals", with_line(4, "#pragma tuner parameter block 1 2"), 4, 31,
     "expected '=' after the name, not '1'"},
    {"ValuesWithCommas", with_line(4, "#pragma tuner parameter block = 1, 2"), 4, 34, "separated by blanks"},
    {"DuplicateParameter", with_line(5, "#pragma tuner parameter block = 1"), 5, 25,
     "'block' is already the name of a parameter (line 4)"},
    {"DuplicateValue", with_line(4, "#pragma tuner parameter block = 32 64 32"), 4, 39, "'32' is given twice"},
    {"MixedValues", with_line(4, "#pragma tuner parameter block = 64 auto"), 4, 36, "different kinds"},
    {"OverflowingValue", with_line(4, "#pragma tuner parameter block = 64 99999999999999999999"), 4, 36,
     "does not fit 64 bits"},
    {"DuplicateSize", with_line(3, "#pragma tuner size n n"), 3, 22, "'n' is already the name of a size (line 3)"},
    {"ParameterNamedLikeASize", with_line(5, "#pragma tuner parameter n = 1"), 5, 25,
     "'n' is already the name of a size (line 3)"},
    {"ParameterNamedLikeALimit", with_line(5, "#pragma tuner parameter warp_size = 32"), 5, 25,
     "is a limit of the device"},
    {"ParameterNamedLikeAFunction", with_line(5, "#pragma tuner parameter min = 1"), 5, 25, "is a function"},
    {"ParameterNamedLikeAnOperator", with_line(5, "#pragma tuner parameter and = 1"), 5, 25,
     "is a word of the expression language"},
    {"ParameterNamedLikeAType", with_line(5, "#pragma tuner parameter float = 1"), 5, 25, "is an element type"},
    {"ValueNamedLikeAParameter", with_line(6, "#pragma tuner parameter load = plain items"), 6, 38,
     "'items' is a name already"},
    {"SizeCalledOffset", with_line(0, "#pragma tuner size offset"), 20, 20, "cannot be called 'offset'"},
    {"SizeOfAFloatingType", with_line(3, "#pragma tuner size n : float"), 3, 24,
     "a size is an int, unsigned, int64 or uint64, not float"},
    {"SizeDefaultTooLarge", with_line(3, "#pragma tuner size n : int = 2147483648"), 3, 30, "does not fit int"},
    {"UnknownType", with_line(2, "#pragma tuner type T = float dubble"), 2, 30,
     "unknown type 'dubble'; did you mean 'double'?"},
    {"UnknownTypeOfABuffer", with_line(10, "#pragma tuner out c[n] : flaot"), 10, 26,
     "unknown type 'flaot'; did you mean 'float'?"},
    {"DerivedFromNothing", with_line(0, "#pragma tuner type R of Q = half:float"), 20, 25,
     "'Q' is no type that the caller chooses"},
    {"BufferWithoutCount", with_line(10, "#pragma tuner out c"), 10, 20, "expected '[' after"},
    {"BufferNeverClosed", with_line(10, "#pragma tuner out c[n"), 10, 22, "expected ']' after the number of elements"},
    {"BufferWithoutType",
     "#pragma tuner kernel k\n#pragma tuner parameter p = 1\n#pragma tuner out c[1]\n#pragma tuner instantiate "
     "f\n#pragma tuner grid 1\n#pragma tuner block 1\n#pragma tuner arguments c\n",
     3, 19, "an element type is needed"},
    {"OutputThatDependsOnAParameter", with_line(10, "#pragma tuner out c[n * items]"), 10, 25,
     "only scratch and zeroed buffers may depend on parameters"},
    {"ConstraintWithoutName", with_line(8, "#pragma tuner constraint items == 4"), 8, 32,
     "expected ':' after the constraint's name, not '=='"},
    {"DuplicateConstraint", with_line(0, "#pragma tuner constraint streams: items > 0"), 20, 26,
     "a constraint 'streams' exists already"},
    {"MissingInstantiate", with_line(15, ""), 12, 15, "launch 'add' has no 'instantiate'"},
    {"EmptyInstantiate", with_line(15, "#pragma tuner instantiate"), 15, 26, "expected the kernel's C++ name"},
    {"MissingGrid", with_line(12, ""), 12, 15, "launch 'add' has no 'grid'"},
    {"MissingBlock", with_line(13, ""), 12, 15, "launch 'add' has no 'block'"},
    {"MissingArguments", with_line(14, ""), 12, 15, "launch 'add' has no 'arguments'"},
    {"SecondGrid", with_line(13, "#pragma tuner grid 1"), 13, 15,
     "a second 'grid' for launch 'add'; the first is in line 12"},
    {"FourDimensions", with_line(12, "#pragma tuner grid 1, 2, 3, 4"), 12, 29, "'grid' has at most 3 dimensions"},
    {"TrailingComma", with_line(12, "#pragma tuner grid 1, 2,"), 12, 25, "expected a value, not the end of the line"},
    {"UnknownArgument", with_line(14, "#pragma tuner arguments a, b, c, alhpa, n"), 14, 34, "unknown argument 'alhpa'"},
    {"WordAsAnArgument", with_line(14, "#pragma tuner arguments a, b, c, load"), 14, 34,
     "'load' is not an integer parameter"},
    {"NoLaunch", "#pragma tuner kernel k\n#pragma tuner parameter p = 1\n", 1, 22, "has no launch"},
    {"NoParameter", "#pragma tuner kernel k\n#pragma tuner size n\n", 1, 22, "nothing to tune"},
    {"DuplicateLaunch", with_line(0, "#pragma tuner launch end\n#pragma tuner launch end"), 21, 22,
     "a launch 'end' exists already"},
    {"ReferenceThatUsesAParameter", with_line(16, "#pragma tuner reference addReference<T, block>"), 16, 15,
     "'block' is a parameter, and a reference does not depend on parameters"},
    {"ReferenceGridThatUsesAParameter",
     with_line(16, "#pragma tuner reference f<T>\n#pragma tuner grid n / items\n#pragma tuner block 1"), 17, 24,
     "'items' is a parameter, and a reference"},
    {"ReferenceArgumentThatIsAParameter",
     with_line(16, "#pragma tuner reference f<T>\n#pragma tuner arguments a, items"), 17, 28,
     "'items' is a parameter, and a reference"},
    {"ReferenceWithGridOnly", with_line(16, "#pragma tuner reference f<T>\n#pragma tuner grid 1"), 16, 15,
     "has a 'grid' but no 'block'"},
    {"InstantiateInAReference", with_line(16, "#pragma tuner reference f<T>\n#pragma tuner instantiate g"), 17, 15,
     "names its function itself"},
    {"VerifyOfAnUnknownSize", with_line(17, "#pragma tuner verify m=33"), 17, 22, "'m' is no size of this kernel"},
    {"VerifyOfANegativeSize", with_line(17, "#pragma tuner verify n=-1"), 17, 22, "n=-1 is negative"},
    {"VerifyTwice", with_line(17, "#pragma tuner verify n=1 n=2"), 17, 26, "'n' is given twice"},
    {"VerifyWithoutValue", with_line(17, "#pragma tuner verify n="), 17, 24,
     "expected an integer, not the end of the line"},
    {"BytesOfAParameter", with_line(18, "#pragma tuner bytes n * items"), 18, 25,
     "'items' is a parameter, and it describes the problem"},
    {"SizeofAnUnknownType", with_line(18, "#pragma tuner bytes n * sizeof(S)"), 18, 32, "unknown name 'S'"},
    {"SizeofANumber", with_line(18, "#pragma tuner bytes n * sizeof(n)"), 18, 32, "'n' is not a type"},
    {"DefaultOutsideTheValues", with_line(19, "#pragma tuner default block=65 items=1 load=plain"), 19, 23,
     "block=65 is not one of: 32 64 128 2048"},
    {"DefaultThatMissesAParameter", with_line(19, "#pragma tuner default block=64 items=1"), 19, 15,
     "the default misses parameter 'load'"},
    {"DefaultOfAnUnknownParameter", with_line(19, "#pragma tuner default blok=64 items=1 load=plain"), 19, 23,
     "'blok' is no parameter of this kernel; did you mean 'block'?"},
    {"DefaultThatViolatesAConstraint", with_line(19, "#pragma tuner default block=64 items=1 load=streaming"), 19, 15,
     "the default violates 'streams'"},
    {"FillOfAnOutput", with_line(0, "#pragma tuner fill c = iota"), 20, 20, "'c' is no input"},
    {"FillOfAnUnknownBuffer", with_line(0, "#pragma tuner fill d = iota"), 20, 20, "unknown buffer 'd'"},
    {"UnknownFill", with_line(0, "#pragma tuner fill a = unform 0 1"), 20, 24, "did you mean 'uniform'?"},
    {"FillWithEmptyRange", with_line(0, "#pragma tuner fill a = uniform 1 1"), 20, 34, "must be above"},
    {"ScalarWithoutValue", with_line(11, "#pragma tuner scalar alpha : T"), 11, 31, "expected '='"},
    {"ScalarThatIsNoNumber", with_line(11, "#pragma tuner scalar alpha : T = 2.5.1"), 11, 34,
     "'2.5.1' is not a number"},
    {"InfiniteScalar", with_line(11, "#pragma tuner scalar alpha : T = 1e999"), 11, 34, "is not a number"},
    {"UnknownTolerance", with_line(0, "#pragma tuner tolerance realtive 1"), 20, 25, "did you mean 'relative'?"},
    {"NegativeTolerance", with_line(0, "#pragma tuner tolerance relative -1"), 20, 34, "cannot be negative"},
    {"SecondBytes", with_line(0, "#pragma tuner bytes n"), 20, 15, "a second 'bytes'; the first is in line 18"},
    {"RestOfTheLine", with_line(1, "#pragma tuner kernel add mul"), 1, 26, "unexpected 'mul' after 'kernel'"},
    {"StrayCharacter", with_line(12, "#pragma tuner grid n @ 2"), 12, 22, "not '@'"},
    {"StrayBackslash", with_line(12, "#pragma tuner grid n \\ "), 12, 22, "not '\\'"},
    {"NulByte", std::string(testing::kVectorAdd) + std::string("int a;\0\n", 8), 20, 7, "NUL byte"},
    {"NotUtf8", std::string(testing::kVectorAdd) + "// caf\xE9\n", 20, 7, "not UTF-8"},
    {"OverlongUtf8", std::string(testing::kVectorAdd) + "// \xC0\xAF\n", 20, 4, "not UTF-8"},
    {"UnterminatedContinuation", with_line(0, "#pragma tuner flops 3 * \\"), 20, 25,
     "the file ends in the middle of a continued line"},
    {"UnterminatedContinuationWithoutNewline", std::string(testing::kVectorAdd) + "#pragma tuner flops 3 * \\", 20, 25,
     "the file ends in the middle of a continued line"},
    {"CommentOverTwoLines", with_line(12, "#pragma tuner grid n /* a\n b */"), 12, 22, "must end on its line"},
    {"ErrorBehindAContinuation", with_line(12, "#pragma tuner grid max(1, \\\n    ceil_div(n, \\\n  blok))"), 14, 3,
     "unknown name 'blok'"},
    {"ErrorBehindACrlfContinuation", with_line(12, "#pragma tuner grid max(1, \\\r\n    ceil_div(n, blok))\r"), 13, 17,
     "unknown name 'blok'"},
    {"ErrorBehindAByteOrderMark", "\xEF\xBB\xBF#pragma tuner kernl add\n", 1, 15, "did you mean 'kernel'?"},
    {"DivisionOfAnotherLanguageBeforeANumber", with_line(8, "#pragma tuner constraint c: block // 64 == 1"), 8, 35,
     "'//' starts a comment, but '64' reads like the rest of the expression: integer division is '/'"},
    {"DivisionOfAnotherLanguageBeforeAName", with_line(12, "#pragma tuner grid 2 * n // block, 2"), 12, 26,
     "'//' starts a comment, but 'block' reads like the rest of the expression"},
    {"DivisionOfAnotherLanguageBeforeABracket", with_line(12, "#pragma tuner grid n //(block * items)"), 12, 22,
     "'(' reads like the rest"},
    {"DivisionOfAnotherLanguageBeforeALaterName",
     with_line(3, "#pragma tuner size n\n#pragma tuner let part = n // block"), 4, 28, "'block' reads like the rest"},
    {"TooFewTemplateArguments",
     with_line(15,
               "#pragma tuner instantiate add<T, block>\n"
               "template <typename T, unsigned block, int items> __global__ void add(const T* a) {}"),
     15, 27, "'add' takes 3 template arguments, but 'add<T, block>' gives it 2"},
    {"TooManyTemplateArguments",
     with_line(15,
               "#pragma tuner instantiate ns::add<T, block, f(items, 2), 3>\n"
               "template <typename T, unsigned block, /* a, b */ int items = (2 > 1)> __global__ void\n"
               "__launch_bounds__(block) add(const T* a) {}"),
     15, 27, "'add' takes 2 to 3 template arguments, but 'ns::add<T, block, f(items, 2), 3>' gives it 4"},
    {"OffsetThatIsNoAlignment", with_line(17, "#pragma tuner verify n=33 offset=1000000000"), 17, 27,
     "an offset is at most 4096 elements"},
    {"SizeThatIsNoCount", with_line(3, "#pragma tuner size n = 1.3k"), 3, 24,
     "'1.3k' is not a whole number such as 4096, 4k, 16M, 1e6 or 2^24"},
    {"TooManyValues", with_line(4, "#pragma tuner parameter block =" + counted(70000)), 4, 382137,
     "more than 65535 values"},
    {"TooManyParameters", repeated_lines("parameter p", " = 1", 200), 130, 25, "more than 128 parameters"},
    {"TooManyConstraints", repeated_lines("constraint c", ": 1", 300), 258, 26, "more than 256 constraints"},
    {"TooManyLets", repeated_lines("let l", " = 1", 20000), 4097, 14, "more than 4096 directives"},
    {"TooLargeAFile", std::string(testing::kVectorAdd) + std::string(2 << 20, ' '), 1, 1, "larger than 1 MB"},
    {"ErrorBehindManyBlanks", with_line(12, "  #  pragma\ttuner   grid  blok"), 12, 27, "unknown name 'blok'"},
};

INSTANTIATE_TEST_SUITE_P(Malformed, KernelFileErrors, ::testing::ValuesIn(kMalformed),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace tuner
