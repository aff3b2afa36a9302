#pragma tuner kernel k
#pragma tuner size n = 9
#pragma tuner parameter p = 1 2
#pragma tuner inout c[n] : float
#pragma tuner fill c = expression i % 2 == 0 ? 1 + i * 0.1 : -1e-3 / n
#pragma tuner grid 1
#pragma tuner block p
#pragma tuner arguments c
#pragma tuner instantiate k<p>
#pragma tuner prepare zero<float>
#pragma tuner arguments c, n * 2 : int64
#pragma tuner prepare copy
#pragma tuner when n > 3
#pragma tuner grid 1
#pragma tuner block 32
#pragma tuner arguments c
