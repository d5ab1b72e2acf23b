package dev.ringfetch.memory;

import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProviders;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** The fabrics of a side that are available, the preferred one first. */
record OpenFabrics(List<Fabric> fabrics, String obstacle) {
  /** Opens fabrics by name, and notes why others cannot be opened. */
  static OpenFabrics open(List<String> names, FabricContext context) {
    final List<Fabric> fabrics = new ArrayList<>();
    final List<String> obstacles = new ArrayList<>();
    for (final String name : names) {
      try {
        fabrics.add(FabricProviders.open(name, context));
      } catch (IOException e) {
        obstacles.add(e.getMessage());
      }
    }
    return new OpenFabrics(fabrics, String.join("; ", obstacles));
  }
}
