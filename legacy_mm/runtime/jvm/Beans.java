/* Java 1.4 style, which Janino takes for sure: no generics, no for-each. */
package legacy_mm;
import java.util.*;
import javax.management.*;

public class Beans {
  private final MBeanServer server = java.lang.management.ManagementFactory.getPlatformMBeanServer();
  private final Map beans = new HashMap();
  private static volatile long readAt = System.nanoTime() - 86400000000000L;

  /** One line a bean and one an attribute: "=" name, or name, declared type, class and value, split by tabs. */
  public void publish(String text) throws Exception {
    Map found = new LinkedHashMap();
    List rows = null;
    StringTokenizer lines = new StringTokenizer(text, "\n");
    while (lines.hasMoreTokens()) {
      String line = lines.nextToken();
      if (line.charAt(0) == '=') {
        rows = new ArrayList();
        found.put(line.substring(1), rows);
      } else {
        rows.add(line.split("\t"));
      }
    }
    for (Iterator gone = beans.keySet().iterator(); gone.hasNext();) {
      String name = (String) gone.next();
      if (!found.containsKey(name)) {
        server.unregisterMBean(new ObjectName(name));
        gone.remove();
      }
    }
    for (Iterator entries = found.entrySet().iterator(); entries.hasNext();) {
      Map.Entry entry = (Map.Entry) entries.next();
      Bean bean = (Bean) beans.get(entry.getKey());
      if (bean != null) {
        bean.take((List) entry.getValue());
      } else {
        bean = new Bean();
        bean.take((List) entry.getValue());
        server.registerMBean(bean, new ObjectName((String) entry.getKey()));
        beans.put(entry.getKey(), bean);
      }
    }
  }

  /** The seconds since a client last asked for a value. */
  public double unread() {
    return (System.nanoTime() - readAt) / 1e9;
  }

  public static class Bean implements DynamicMBean {
    private volatile Map values = new HashMap();
    private volatile MBeanInfo info;

    void take(List rows) {
      Map taken = new LinkedHashMap();
      MBeanAttributeInfo[] described = new MBeanAttributeInfo[rows.size()];
      for (int i = 0; i < described.length; i++) {
        String[] row = (String[]) rows.get(i);
        taken.put(row[0], valueOf(row[2], row[3]));
        described[i] = new MBeanAttributeInfo(row[0], row[1], "", true, false, false);
      }
      if (info == null || info.getAttributes().length != described.length) {
        info = new MBeanInfo(Bean.class.getName(), "", described, null, null, null);
      }
      values = taken;
    }

    private static Object valueOf(String type, String text) {
      if (type.equals("Double")) return Double.valueOf(text);
      if (type.equals("Integer")) return Integer.valueOf(text);
      if (type.equals("Long")) return Long.valueOf(text);
      if (type.equals("ArrayList")) return new ArrayList(Arrays.asList(text.split(",")));
      return text;
    }

    public Object getAttribute(String name) throws AttributeNotFoundException {
      readAt = System.nanoTime();
      Object value = values.get(name);
      if (value == null) throw new AttributeNotFoundException(name);
      return value;
    }

    public AttributeList getAttributes(String[] names) {
      readAt = System.nanoTime();
      Map now = values;
      AttributeList list = new AttributeList();
      for (int i = 0; i < names.length; i++) {
        if (now.containsKey(names[i])) list.add(new Attribute(names[i], now.get(names[i])));
      }
      return list;
    }

    public void setAttribute(Attribute attribute) throws AttributeNotFoundException {
      throw new AttributeNotFoundException(attribute.getName());
    }

    public AttributeList setAttributes(AttributeList attributes) {
      return new AttributeList();
    }

    public Object invoke(String action, Object[] parameters, String[] signature) {
      throw new UnsupportedOperationException(action);
    }

    public MBeanInfo getMBeanInfo() {
      return info;
    }
  }
}
