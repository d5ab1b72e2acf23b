package dev.ringfetch.benchmarks.spatial;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collection;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.DoublePoint;
import org.apache.lucene.document.DoubleRange;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.search.CollectorManager;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.SimpleCollector;
import org.apache.lucene.store.ByteBuffersDirectory;

/**
 * Lucene's BKD trees in the client's process, one segment in memory: of points, or of boxes as
 * points of four dimensions. Entries have a number and no value. Lucene's core has no search of the
 * nearest.
 */
final class BkdStore implements SpatialStore {
  private static final String AREA = "area";
  private static final String NUMBER = "number";

  private final Shape shape;
  private final ByteBuffersDirectory directory = new ByteBuffersDirectory();
  private DirectoryReader reader;
  private IndexSearcher searcher;

  BkdStore(Shape shape) {
    this.shape = shape;
  }

  @Override
  public void load(Places places) {
    try (IndexWriter writer =
        new IndexWriter(directory, new IndexWriterConfig().setUseCompoundFile(false))) {
      for (int i = 0; i < places.count(); i++) {
        final Area area = places.area(i);
        final Document document = new Document();
        document.add(new NumericDocValuesField(NUMBER, i));
        document.add(
            shape == Shape.points
                ? new DoublePoint(AREA, area.minX(), area.minY())
                : new DoubleRange(
                    AREA,
                    new double[] {area.minX(), area.minY()},
                    new double[] {area.maxX(), area.maxY()}));
        writer.addDocument(document);
      }
      writer.forceMerge(1);
      writer.commit();
      reader = DirectoryReader.open(directory);
      searcher = new IndexSearcher(reader);
      searcher.setQueryCache(null);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public long usedBytes() {
    try {
      long bytes = 0;
      for (final String file : directory.listAll()) {
        bytes += directory.fileLength(file);
      }
      return bytes;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void search(Area area, Finds finds) {
    final double[] min = {area.minX(), area.minY()};
    final double[] max = {area.maxX(), area.maxY()};
    final Query query =
        shape == Shape.points
            ? DoublePoint.newRangeQuery(AREA, min, max)
            : DoubleRange.newIntersectsQuery(AREA, min, max);
    try {
      final var unused = searcher.search(query, new Finding(finds));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** One collector: there is one segment. */
  private record Finding(Finds finds) implements CollectorManager<Numbers, Boolean> {
    @Override
    public Numbers newCollector() {
      return new Numbers(finds);
    }

    @Override
    public Boolean reduce(Collection<Numbers> all) {
      return !all.isEmpty();
    }
  }

  /** Reads the numbers of the documents that were found. */
  private static final class Numbers extends SimpleCollector {
    private final Finds finds;
    private NumericDocValues numbers;

    Numbers(Finds finds) {
      this.finds = finds;
    }

    @Override
    protected void doSetNextReader(LeafReaderContext context) throws IOException {
      numbers = context.reader().getNumericDocValues(NUMBER);
    }

    @Override
    public void collect(int document) throws IOException {
      if (!numbers.advanceExact(document)) {
        throw new IllegalStateException("no number: document=" + document);
      }
      finds.take((int) numbers.longValue());
    }

    @Override
    public ScoreMode scoreMode() {
      return ScoreMode.COMPLETE_NO_SCORES;
    }
  }

  @Override
  public void close() {
    try {
      if (reader != null) {
        reader.close();
      }
      directory.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
