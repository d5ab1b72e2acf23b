package dev.ringfetch.index.node;

import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.IndexDescription;
import dev.ringfetch.index.v1.RecoverIndexRequest;
import dev.ringfetch.index.v1.RecoverIndexResponse;
import io.grpc.StatusException;
import java.util.List;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * The catalog of all indexes that calls to a server may name: creates and drops them, and says of
 * those that another node leads where to call.
 *
 * <p>Safe for use by many threads.
 */
public interface IndexCatalog extends CatchUp {
  /** The most nodes that a request may name. */
  int REPLICAS_MAX = 64;

  /** Whether there can be other nodes. */
  boolean isOfCluster();

  /** Whether a caller has proved, by its certificate, to be a living node of the cluster. */
  boolean isNode(SSLSession caller);

  /**
   * Refuses a call for an index that this node does not lead: with FAILED_PRECONDITION and the
   * leader's address, or with UNAVAILABLE while there is no leader. Does nothing if the cluster has
   * no such index, as far as this node knows.
   */
  void checkElsewhere(String name) throws StatusException;

  /**
   * Begins to create an index, unless there is one. Calls that come for one name meanwhile share
   * the creation.
   *
   * @param wanted within its limits
   * @param created is told, on any thread, once
   */
  void create(CreateIndexRequest wanted, Created created);

  /**
   * Drops an index, if there is one; as {@link #create}.
   *
   * @param incarnation that it has to have; 0 for any
   */
  void drop(String name, long incarnation, Created dropped);

  /**
   * Has an index go on of which no node lives that has all, or looks what would become of it. Does
   * not wait until the index serves.
   *
   * @param recovered is told, on any thread, once
   */
  void recover(RecoverIndexRequest request, Recovered recovered);

  /** Addresses of the nodes that live: host and port. */
  List<String> addresses();

  /** The cluster's indexes that other nodes lead, as {@link IndexDescription#getLedElsewhere}. */
  List<IndexDescription> ledElsewhere();

  /** Describes the cluster, as this node sees it. */
  DescribeClusterResponse describe();

  /** Takes the end of a creation or a removal. */
  @FunctionalInterface
  interface Created {
    /**
     * It has ended.
     *
     * @param incarnation of the index; 0 if there was none to be dropped
     * @param done whether this call has done it; else there was one already
     * @param failure null if it has not failed
     */
    void onEnd(long incarnation, boolean done, @Nullable StatusException failure);
  }

  /** Takes the end of a recovery, or of a look. */
  @FunctionalInterface
  interface Recovered {
    /**
     * It has ended.
     *
     * @param response null if it has failed
     * @param failure null if it has not failed
     */
    void onEnd(@Nullable RecoverIndexResponse response, @Nullable StatusException failure);
  }
}
