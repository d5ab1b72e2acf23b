package dev.ringfetch.benchmarks.spatial;

import dev.ringfetch.benchmarks.stores.RedisStore;
import java.nio.file.Path;
import java.util.IdentityHashMap;
import java.util.List;
import redis.clients.jedis.GeoCoordinate;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.args.GeoUnit;
import redis.clients.jedis.params.GeoSearchParam;
import redis.clients.jedis.resps.GeoRadiusResponse;

/**
 * A Redis server at a Unix socket, by Jedis: GEOADD and GEOSEARCH of points. Members have no
 * values. A search has metres, and Redis rounds coordinates to 26 bits.
 */
final class GeoRedisStore implements SpatialStore {
  private static final byte[] PLACES = {'p'};
  private static final int BATCH = 256;
  private static final int BATCHES = 16;

  /** Of a degree, by the radius of the earth that Redis has. */
  private static final double METRES = Math.toRadians(6_372_797.560856);

  /** 360 degrees in 26 bits, and the width of a rectangle of degrees one degree off the equator. */
  private static final double TOLERANCE = 1.2e-5;

  private final Path socket;
  private final Jedis jedis;
  private final long emptyBytes;

  GeoRedisStore(Path socket) {
    this.socket = socket;
    this.jedis = RedisStore.connect(socket);
    this.emptyBytes = used();
  }

  private long used() {
    return new RedisStore(socket).usedBytes();
  }

  @Override
  public void load(Places places) {
    int number = 0;
    while (number < places.count()) {
      final Pipeline pipeline = jedis.pipelined();
      for (int batch = 0; batch < BATCHES && number < places.count(); batch++) {
        final IdentityHashMap<byte[], GeoCoordinate> members = new IdentityHashMap<>();
        while (members.size() < BATCH && number < places.count()) {
          final Area area = places.area(number);
          members.put(Places.key(number), new GeoCoordinate(area.minX(), area.minY()));
          number++;
        }
        final var unused = pipeline.geoadd(PLACES, members);
      }
      pipeline.syncAndReturnAll();
    }
  }

  @Override
  public long usedBytes() {
    return used() - emptyBytes;
  }

  @Override
  public void search(Area area, Finds finds) {
    take(
        from((area.minX() + area.maxX()) / 2, (area.minY() + area.maxY()) / 2)
            .byBox(
                (area.maxX() - area.minX()) * METRES,
                (area.maxY() - area.minY()) * METRES,
                GeoUnit.M),
        finds);
  }

  @Override
  public void nearest(double x, double y, int limit, double radius, Finds finds) {
    take(from(x, y).byRadius(radius * METRES, GeoUnit.M).asc().count(limit), finds);
  }

  private static GeoSearchParam from(double x, double y) {
    return GeoSearchParam.geoSearchParam().fromLonLat(x, y);
  }

  private void take(GeoSearchParam param, Finds finds) {
    final List<GeoRadiusResponse> found = jedis.geosearch(PLACES, param);
    for (final GeoRadiusResponse one : found) {
      finds.take(Places.number(one.getMember(), 0));
    }
  }

  @Override
  public void move(int number, Area area) {
    final long unused = jedis.geoadd(PLACES, area.minX(), area.minY(), Places.key(number));
  }

  @Override
  public double tolerance() {
    return TOLERANCE;
  }

  @Override
  public void close() {
    jedis.close();
  }
}
