// Arithmetic with a direction of rounding, beside what exact arithmetic says. All results are compared bit by bit.
#pragma tuner kernel    rounding
#pragma tuner size      n : int = 2000
#pragma tuner parameter threads = 64 128
#pragma tuner in        x[n] : float
#pragma tuner in        y[n] : float
#pragma tuner fill      x = uniform -100 100
#pragma tuner fill      y = uniform -3 3
#pragma tuner out       bits[n] : uint64
#pragma tuner arguments x, y, bits, n
#pragma tuner block     threads
#pragma tuner grid      ceil_div(n, threads)
#pragma tuner reference rounding_reference

/// Collects the bits of values.
struct Bits {
  unsigned long long all = 1469598103934665603ull;
  __device__ void add(unsigned long long value) { all = (all ^ value) * 1099511628211ull; }
  __device__ void add(int value) { add((unsigned long long)(unsigned)value); }
  __device__ void add(float value) { add((unsigned long long)__float_as_uint(value)); }
  __device__ void add(double value) { add((unsigned long long)__double_as_longlong(value)); }
};

extern "C" __global__ void rounding(const float* x, const float* y, unsigned long long* bits, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float a = x[i], b = y[i];
  const double u = a / 3.0, v = b / 7.0;
  const int k = (int)(16777259u * (unsigned)i);
  Bits all;
  all.add(__fadd_rd(a, b)), all.add(__fadd_ru(a, b)), all.add(__fadd_rz(a, b));
  all.add(__fsub_rd(a, b)), all.add(__fsub_ru(a, b)), all.add(__fsub_rz(a, b));
  all.add(__fmul_rd(a, b)), all.add(__fmul_ru(a, b)), all.add(__fmul_rz(a, b));
  all.add(__fdiv_rd(a, b)), all.add(__fdiv_ru(a, b)), all.add(__fdiv_rz(a, b));
  all.add(__frcp_rd(b)), all.add(__frcp_ru(b)), all.add(__frcp_rz(b));
  all.add(__fsqrt_rd(a * a)), all.add(__fsqrt_ru(b * b)), all.add(__fsqrt_rz(fabsf(a)));
  all.add(__fmaf_rd(a, b, a)), all.add(__fmaf_ru(a, b, b)), all.add(__fmaf_rz(a, b, -a));
  all.add(__dadd_rd(u, v)), all.add(__dadd_ru(u, v)), all.add(__dsub_rz(u, v));
  all.add(__dmul_rd(u, v)), all.add(__dmul_ru(u, v)), all.add(__dmul_rz(u, v));
  all.add(__ddiv_rd(u, v)), all.add(__ddiv_ru(u, v)), all.add(__ddiv_rz(u, v));
  all.add(__fma_rd(u, v, 0.0)), all.add(__dsqrt_ru(u * u)), all.add(__drcp_rd(v));
  all.add(__int2float_rd(k)), all.add(__int2float_ru(k)), all.add(__int2float_rz(k));
  all.add(__double2float_rd(u)), all.add(__double2float_ru(u)), all.add(__double2float_rz(u));
  all.add(__float2int_rd(a)), all.add(__float2int_ru(a)), all.add(__double2int_rn(u)), all.add(__double2int_rz(u));
  all.add(__float2int_rz(a * 1e9f)), all.add((unsigned long long)__float2uint_rn(a * 1e9f));
  all.add((unsigned long long)__double2ll_rz(u * 1e18)), all.add(__float2ull_rd(a * 1e18f));
  all.add(__float2int_rz(NAN)), all.add(__fmul_rz(3e38f, 3.0f)), all.add(__fmul_ru(-3e38f, 3.0f));
  bits[i] = all.all;
}

/// The float below, above, or towards zero of a value.
__device__ float below(double exact) {
  const float nearest = (float)exact;
  return nearest > exact ? nextafterf(nearest, -INFINITY) : nearest;
}
__device__ float above(double exact) { return -below(-exact); }
__device__ float inside(double exact) { return exact > 0 ? below(exact) : above(exact); }
/// The double below `nearest + rest`, where `rest` is less than the distance to the next one.
__device__ double below(double nearest, double rest) { return rest < 0 ? nextafter(nearest, -double(INFINITY)) : nearest; }
__device__ double above(double nearest, double rest) { return -below(-nearest, -rest); }
__device__ double inside(double nearest, double rest) { return nearest > 0 ? below(nearest, rest) : above(nearest, rest); }

/// What is missing in the nearest sum, for |a| > |b|.
__device__ double rest_of_sum(double a, double b) {
  const double sum = a + b;
  return fabs(a) > fabs(b) ? b - (sum - a) : a - (sum - b);
}
template <class Integer>
__device__ Integer within(double x, Integer least, Integer most) {
  return x >= (double)most ? most : x <= (double)least ? least : (Integer)x;
}

extern "C" __global__ void rounding_reference(const float* x, const float* y, unsigned long long* bits, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float a = x[i], b = y[i];
  const double u = a / 3.0, v = b / 7.0, da = a, db = b;
  const int k = (int)(16777259u * (unsigned)i);
  Bits all;
  all.add(below(da + db)), all.add(above(da + db)), all.add(inside(da + db));
  all.add(below(da - db)), all.add(above(da - db)), all.add(inside(da - db));
  all.add(below(da * db)), all.add(above(da * db)), all.add(inside(da * db));
  all.add(below(da / db)), all.add(above(da / db)), all.add(inside(da / db));
  all.add(below(1 / db)), all.add(above(1 / db)), all.add(inside(1 / db));
  all.add(below(sqrt((double)(a * a)))), all.add(above(sqrt((double)(b * b)))), all.add(inside(sqrt(fabs(da))));
  all.add(below(fma(da, db, da))), all.add(above(fma(da, db, db))), all.add(inside(fma(da, db, -da)));
  all.add(below(u + v, rest_of_sum(u, v))), all.add(above(u + v, rest_of_sum(u, v)));
  all.add(inside(u - v, rest_of_sum(u, -v)));
  const double product = u * v, missing = fma(u, v, -product);
  all.add(below(product, missing)), all.add(above(product, missing)), all.add(inside(product, missing));
  const double quotient = u / v, left = fma(-quotient, v, u) * (v > 0 ? 1 : -1);
  all.add(below(quotient, left)), all.add(above(quotient, left)), all.add(inside(quotient, left));
  const double root = sqrt(u * u), inverse = 1 / v;
  all.add(below(product, missing)), all.add(above(root, fma(-root, root, u * u)));
  all.add(below(inverse, fma(-inverse, v, 1.0) * (v > 0 ? 1 : -1)));
  all.add(below((double)k)), all.add(above((double)k)), all.add(inside((double)k));
  all.add(below(u)), all.add(above(u)), all.add(inside(u));
  all.add((int)floor(da)), all.add((int)ceil(da)), all.add((int)rint(u)), all.add((int)u);
  all.add(within((double)(a * 1e9f), -2147483647 - 1, 2147483647));
  all.add((unsigned long long)within((double)(a * 1e9f), 0u, 4294967295u));
  all.add((unsigned long long)within(u * 1e18, -9223372036854775807ll - 1, 9223372036854775807ll));
  all.add(within((double)(a * 1e18f), 0ull, 18446744073709551615ull));
  all.add(0), all.add(3.402823466e38f), all.add(-3.402823466e38f);
  bits[i] = all.all;
}
