package dev.ringfetch.benchmarks.near;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.kernel.Kernel;
import dev.ringfetch.index.kernel.KernelReader;
import dev.ringfetch.index.v1.Entry;

/** A kernel that follows a chain: takes hops and a key, and answers with the last entry's value. */
public final class ChainKernel implements Kernel {
  static final String NAME = "chain";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public ByteString run(ByteString argument, KernelReader reader) {
    ByteString key = argument.substring(1);
    ByteString value = ByteString.EMPTY;
    for (int hop = 0; hop < argument.byteAt(0); hop++) {
      final Entry entry = reader.get(key);
      value = entry.getValue();
      key = value.substring(0, key.size());
    }
    return value;
  }
}
