package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.benchmarks.PeerRound.Use;
import dev.ringfetch.examples.load.Figures;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

final class PeerPlotTest {
  private static PeerRow row(Peer peer, double p50) {
    return new PeerRow(
        peer,
        Load.atRate(1000),
        List.of(
            new PeerRound(
                new Figures(1000, p50, 2 * p50, 4 * p50, 1e6 / p50),
                new Use(1, 1),
                new Use(1, 1),
                0,
                0)));
  }

  private static Document parse(String svg) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new InputSource(new StringReader(svg)));
  }

  @Test
  void aRowHasADotAtItsMedianAndSlowerOnesAreFurtherRight() throws Exception {
    final List<PeerRow> rows = new ArrayList<>();
    for (final Peer peer : Peer.values()) {
      rows.add(row(peer, 0.2 * Math.pow(7, rows.size())));
    }
    final Document svg = parse(PeerPlot.of(rows));
    final NodeList dots = svg.getElementsByTagName("circle");
    assertEquals(rows.size(), dots.getLength());
    double before = 0;
    double step = 0;
    for (int i = 0; i < dots.getLength(); i++) {
      final double x = Double.parseDouble(((Element) dots.item(i)).getAttribute("cx"));
      if (i > 1) {
        assertEquals(step, x - before, 0.11); // the scale is logarithmic
      }
      step = x - before;
      assertTrue(step > 0, () -> "x " + x);
      before = x;
    }
    assertTrue(before < Double.parseDouble(svg.getDocumentElement().getAttribute("width")));
  }

  @Test
  void oneRowIsEnough() throws Exception {
    assertEquals(
        1,
        parse(PeerPlot.of(List.of(row(Peer.raw, 1)))).getElementsByTagName("circle").getLength());
  }
}
