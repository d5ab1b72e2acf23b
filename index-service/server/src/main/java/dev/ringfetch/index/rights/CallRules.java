package dev.ringfetch.index.rights;

import dev.ringfetch.index.v1.AppendRequest;
import dev.ringfetch.index.v1.BatchGetRequest;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.CloseClientRequest;
import dev.ringfetch.index.v1.CompareAndSetRequest;
import dev.ringfetch.index.v1.CountRequest;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DeleteRangeRequest;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.DescribeRequest;
import dev.ringfetch.index.v1.DirectAccessGrpc;
import dev.ringfetch.index.v1.DropIndexRequest;
import dev.ringfetch.index.v1.FollowRequest;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GrantRequest;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.ListIndexesResponse;
import dev.ringfetch.index.v1.NearestRequest;
import dev.ringfetch.index.v1.OpenClientRequest;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.RecoverIndexRequest;
import dev.ringfetch.index.v1.RunKernelRequest;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.SearchRequest;
import dev.ringfetch.index.v1.TransactRequest;
import dev.ringfetch.index.v1.UpdateRequest;
import dev.ringfetch.index.v1.WatchRequest;
import io.grpc.MethodDescriptor;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The table of the services' methods: which right each one needs, and to which index. */
final class CallRules {
  /**
   * The rule of a method.
   *
   * @param right that its caller needs; null if each user may call it
   * @param index that a request names; null if the right is needed for all there may ever be
   * @param visible makes of an answer what a user sees, who may read the indexes of the predicate
   */
  record Rule<Q, R>(
      @Nullable Right right,
      @Nullable Function<Q, String> index,
      @Nullable BiFunction<R, Predicate<String>, R> visible) {
    /** The index of a request, as messages name it. */
    String index(Q request) {
      if (index == null) {
        return ALL;
      }
      final String name = index.apply(request);
      return name.isEmpty() ? DEFAULT : name;
    }

    boolean isAllowed(User user, String name) {
      return right == null || (index == null ? user.mayAll(right) : user.may(right, name));
    }
  }

  /** The index of calls that name none. */
  static final String ALL = "*";

  /** The index of requests with an empty name. */
  static final String DEFAULT = "default";

  private static final Map<String, Rule<?, ?>> RULES = new HashMap<>();

  static {
    add(IndexGrpc.getGetMethod(), Right.READ, GetRequest::getIndex);
    add(IndexGrpc.getBatchGetMethod(), Right.READ, BatchGetRequest::getIndex);
    add(IndexGrpc.getScanMethod(), Right.READ, ScanRequest::getIndex);
    add(IndexGrpc.getScanPageMethod(), Right.READ, ScanRequest::getIndex);
    add(IndexGrpc.getFollowMethod(), Right.READ, FollowRequest::getIndex);
    add(IndexGrpc.getRunKernelMethod(), Right.READ, RunKernelRequest::getIndex);
    add(IndexGrpc.getSearchMethod(), Right.READ, SearchRequest::getIndex);
    add(IndexGrpc.getSearchPageMethod(), Right.READ, SearchRequest::getIndex);
    add(IndexGrpc.getNearestMethod(), Right.READ, NearestRequest::getIndex);
    add(IndexGrpc.getCountMethod(), Right.READ, CountRequest::getIndex);
    add(IndexGrpc.getDescribeMethod(), Right.READ, DescribeRequest::getIndex);
    add(IndexGrpc.getWatchMethod(), Right.READ, WatchRequest::getIndex);
    add(IndexGrpc.getPutMethod(), Right.WRITE, PutRequest::getIndex);
    add(IndexGrpc.getDeleteMethod(), Right.WRITE, DeleteRequest::getIndex);
    add(IndexGrpc.getCompareAndSetMethod(), Right.WRITE, CompareAndSetRequest::getIndex);
    add(IndexGrpc.getUpdateMethod(), Right.WRITE, UpdateRequest::getIndex);
    add(IndexGrpc.getTransactMethod(), Right.WRITE, TransactRequest::getIndex);
    add(IndexGrpc.getBatchPutMethod(), Right.WRITE, BatchPutRequest::getIndex);
    add(IndexGrpc.getAppendMethod(), Right.WRITE, AppendRequest::getIndex);
    add(IndexGrpc.getDeleteRangeMethod(), Right.WRITE, DeleteRangeRequest::getIndex);
    add(IndexGrpc.getOpenClientMethod(), Right.WRITE, OpenClientRequest::getIndex);
    add(IndexGrpc.getCloseClientMethod(), Right.WRITE, CloseClientRequest::getIndex);

    // A write creates the index, too, and clients create it before they write.
    add(IndexAdminGrpc.getCreateIndexMethod(), Right.WRITE, CreateIndexRequest::getIndex);
    add(IndexAdminGrpc.getDropIndexMethod(), Right.ADMIN, DropIndexRequest::getIndex);
    add(IndexAdminGrpc.getRecoverIndexMethod(), Right.ADMIN, RecoverIndexRequest::getIndex);
    ofAll(IndexAdminGrpc.getSnapshotMethod(), Right.ADMIN);
    ofAll(IndexAdminGrpc.getListFilesMethod(), Right.ADMIN);
    ofAll(IndexAdminGrpc.getReadFileMethod(), Right.ADMIN);
    ofUsers(IndexAdminGrpc.getListIndexesMethod(), CallRules::visible);
    ofUsers(IndexAdminGrpc.getDescribeServerMethod(), null);
    ofUsers(IndexAdminGrpc.getDescribeClusterMethod(), CallRules::visible);

    add(DirectAccessGrpc.getGrantMethod(), Right.READ, GrantRequest::getIndex);
    ofAll(DirectAccessGrpc.getGrantGatesMethod(), Right.READ);
    ofUsers(DirectAccessGrpc.getReleaseMethod(), null);
  }

  private CallRules() {}

  private static <Q, R> void add(
      MethodDescriptor<Q, R> method, Right right, Function<Q, String> index) {
    RULES.put(method.getFullMethodName(), new Rule<Q, R>(right, index, null));
  }

  private static <Q, R> void ofAll(MethodDescriptor<Q, R> method, Right right) {
    RULES.put(method.getFullMethodName(), new Rule<Q, R>(right, null, null));
  }

  private static <Q, R> void ofUsers(
      MethodDescriptor<Q, R> method, @Nullable BiFunction<R, Predicate<String>, R> visible) {
    RULES.put(method.getFullMethodName(), new Rule<Q, R>(null, null, visible));
  }

  /**
   * The rule of a method.
   *
   * @throws IllegalArgumentException if it has none, so that no new method is open by mistake
   */
  @SuppressWarnings("unchecked") // the table has the rule of this method
  static <Q, R> Rule<Q, R> of(MethodDescriptor<Q, R> method) {
    final Rule<?, ?> rule = RULES.get(method.getFullMethodName());
    if (rule == null) {
      throw new IllegalArgumentException("no rule says who may call " + method.getFullMethodName());
    }
    return (Rule<Q, R>) rule;
  }

  private static ListIndexesResponse visible(
      ListIndexesResponse response, Predicate<String> readable) {
    final ListIndexesResponse.Builder visible = response.toBuilder().clearIndexes();
    response.getIndexesList().stream()
        .filter(index -> readable.test(index.getName()))
        .forEach(visible::addIndexes);
    return visible.build();
  }

  private static DescribeClusterResponse visible(
      DescribeClusterResponse response, Predicate<String> readable) {
    final DescribeClusterResponse.Builder visible = response.toBuilder().clearGroups();
    response.getGroupsList().stream()
        .filter(group -> readable.test(group.getIndex()))
        .forEach(visible::addGroups);
    return visible.build();
  }
}
