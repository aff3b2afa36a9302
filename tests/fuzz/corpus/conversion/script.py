tune_params = {"block_size_x": [32 * i for i in range(1, 9)]}
tune_params["tile"] = [2**i for i in range(4)]
restrict = ["block_size_x * tile <= 1024", lambda p: p["tile"] // 2 < 4]
x = numpy.zeros(size := 4, numpy.float32)
tune_kernel("f", "f.cu", (64, 64), [x, numpy.int32(3)], tune_params, restrictions=restrict, grid_div_x=["tile"])
