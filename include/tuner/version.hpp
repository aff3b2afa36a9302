#pragma once
/// The version of tuner. C++17.

#define TUNER_VERSION_MAJOR 0
#define TUNER_VERSION_MINOR 1
#define TUNER_VERSION_PATCH 0

#define TUNER_TEXT_OF(number) #number
#define TUNER_VERSION_TEXT(major, minor, patch) TUNER_TEXT_OF(major) "." TUNER_TEXT_OF(minor) "." TUNER_TEXT_OF(patch)
#define TUNER_VERSION TUNER_VERSION_TEXT(TUNER_VERSION_MAJOR, TUNER_VERSION_MINOR, TUNER_VERSION_PATCH)

/// The namespace of all public entities, which programs name without it: `tuner::reduce`. It changes with each
/// interface that old programs cannot use. Only its symbols leave a shared library.
#define TUNER_ABI v0_1 __attribute__((visibility("default")))

namespace tuner {
inline namespace TUNER_ABI {

inline constexpr const char kVersion[] = TUNER_VERSION;

}  // namespace TUNER_ABI
}  // namespace tuner
