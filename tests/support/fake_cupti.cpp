// A fake CUPTI for a chip FK100 that has every counter and needs two passes for a set.
// $TUNER_FAKE_CUPTI_ENABLE: the result of enabling the profiler. fake_cupti_log() returns a log of all calls.
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace {

std::string done;
int passes = 0;
const char* const kChips[] = {"FK100"};
int object;  // its address serves as each handle

template <typename Object>
Object* handle() {
  return reinterpret_cast<Object*>(&object);
}

CUptiResult note(const char* what) {
  done += (done.empty() ? "" : " ") + std::string(what);
  return CUPTI_SUCCESS;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

const char* fake_cupti_log() {
  static std::string told;
  told.swap(done);
  done.clear();
  return told.c_str();
}

CUptiResult cuptiGetVersion(uint32_t* version) {
  *version = 130001;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
  *text = "CUPTI_ERROR_MADE_UP";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* p) {
  p->pChipName = kChips[0];
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params*) { return CUPTI_SUCCESS; }
CUptiResult cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params* p) {
  p->counterAvailabilityImageSize = 4;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* p) {
  p->pHostObject = handle<CUpti_Profiler_Host_Object>();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params*) { return CUPTI_SUCCESS; }
CUptiResult cuptiProfilerHostGetSupportedChips(CUpti_Profiler_Host_GetSupportedChips_Params* p) {
  p->numChips = 1;
  p->ppChipNames = kChips;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetBaseMetrics(CUpti_Profiler_Host_GetBaseMetrics_Params* p) {
  p->numMetrics = 0;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetSubMetrics(CUpti_Profiler_Host_GetSubMetrics_Params* p) {
  p->numOfSubmetrics = 0;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetMetricProperties(CUpti_Profiler_Host_GetMetricProperties_Params*) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* p) {
  note("plan");
  for (size_t i = 0; i < p->numMetrics; ++i) note(p->ppMetricNames[i]);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* p) {
  p->configImageSize = 8;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params*) { return CUPTI_SUCCESS; }
CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* p) {
  p->numOfPasses = 2;
  return CUPTI_SUCCESS;
}
/// Counter number i is 10 + i.
CUptiResult cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* p) {
  for (size_t i = 0; i < p->numMetrics; ++i) p->pMetricValues[i] = 10 + static_cast<double>(i);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* p) {
  const char* const result = std::getenv("TUNER_FAKE_CUPTI_ENABLE");
  if (result != nullptr) return static_cast<CUptiResult>(std::atoi(result));
  p->pRangeProfilerObject = handle<CUpti_RangeProfiler_Object>();
  return note("enable");
}
CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params*) { return note("disable"); }
CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* p) {
  passes = 0;
  return note(p->range == CUPTI_UserRange ? "ranges:given" : "ranges:launches");
}
CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params*) { return note("start"); }
CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* p) {
  p->isAllPassSubmitted = ++passes == 2;
  return note("stop");
}
CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params*) { return note("push"); }
CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params*) { return note("pop"); }
CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params*) { return note("decode"); }
CUptiResult cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* p) {
  p->counterDataSize = 16;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerCounterDataImageInitialize(CUpti_RangeProfiler_CounterDataImage_Initialize_Params*) {
  return CUPTI_SUCCESS;
}
}
