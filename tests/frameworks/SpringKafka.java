// Spring Kafka: a listener that throws, with its own dead-letter topic, and one that works.
//
// java SpringKafka BOOTSTRAP TOPIC fail COUNT   consumes so many, each of which ends in TOPIC-dlt
// java SpringKafka BOOTSTRAP TOPIC work COUNT   consumes so many, and prints partition, key, value and headers of each
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.DeadLetterPublishingRecoverer;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.KafkaMessageListenerContainer;
import org.springframework.kafka.listener.MessageListener;
import org.springframework.util.backoff.FixedBackOff;

public class SpringKafka {
    static String base64(byte[] bytes) {
        return bytes == null ? "null" : Base64.getEncoder().encodeToString(bytes);
    }

    static void print(ConsumerRecord<byte[], byte[]> record) {
        StringBuilder line = new StringBuilder("done " + record.partition() + " " + base64(record.key()) + " " + base64(record.value()));
        for (Header header : record.headers())
            line.append(" ").append(header.key()).append("=").append(base64(header.value()));
        System.out.println(line);
    }

    public static void main(String[] arguments) throws Exception {
        String bootstrap = arguments[0], topic = arguments[1];
        boolean works = arguments[2].equals("work");
        CountDownLatch left = new CountDownLatch(Integer.parseInt(arguments[3]));
        Map<String, Object> consumer = new HashMap<>(Map.of(
            "bootstrap.servers", bootstrap, "group.id", "prices", "auto.offset.reset", "earliest",
            "key.deserializer", ByteArrayDeserializer.class, "value.deserializer", ByteArrayDeserializer.class));
        Map<String, Object> producer = new HashMap<>(Map.of(
            "bootstrap.servers", bootstrap,
            "key.serializer", ByteArraySerializer.class, "value.serializer", ByteArraySerializer.class));
        var producers = new DefaultKafkaProducerFactory<byte[], byte[]>(producer);
        var recoverer = new DeadLetterPublishingRecoverer(new KafkaTemplate<>(producers));
        ContainerProperties properties = new ContainerProperties(topic);
        properties.setMessageListener((MessageListener<byte[], byte[]>) record -> {
            if (!works)
                throw new IllegalStateException("no price for " + new String(record.key()));
            print(record);
            left.countDown();
        });
        var container = new KafkaMessageListenerContainer<>(
            new DefaultKafkaConsumerFactory<byte[], byte[]>(consumer), properties);
        container.setCommonErrorHandler(new DefaultErrorHandler((record, exception) -> {
            recoverer.accept(record, exception);
            left.countDown();
        }, new FixedBackOff(0, 1)));
        container.start();
        left.await();
        container.stop();
        producers.destroy();
        System.exit(0);
    }
}
