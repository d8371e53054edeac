// Spring AMQP: a listener that throws, and one that works.
//
// java SpringAmqp PORT QUEUE reject COUNT      rejects so many: RabbitMQ dead-letters them as the queue says
// java SpringAmqp PORT QUEUE republish COUNT   RepublishMessageRecoverer publishes so many to QUEUE.dlq
// java SpringAmqp PORT QUEUE work COUNT        consumes so many, and prints exchange, routing key and body of each
import java.util.Base64;
import java.util.concurrent.CountDownLatch;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessageListener;
import org.springframework.amqp.rabbit.config.RetryInterceptorBuilder;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.amqp.rabbit.listener.SimpleMessageListenerContainer;
import org.springframework.amqp.rabbit.retry.RepublishMessageRecoverer;

public class SpringAmqp {
    public static void main(String[] arguments) throws Exception {
        String queue = arguments[1], verb = arguments[2];
        CountDownLatch left = new CountDownLatch(Integer.parseInt(arguments[3]));
        CachingConnectionFactory connections = new CachingConnectionFactory("127.0.0.1", Integer.parseInt(arguments[0]));
        SimpleMessageListenerContainer container = new SimpleMessageListenerContainer(connections);
        container.setQueueNames(queue);
        container.setDefaultRequeueRejected(false);
        container.setMessageListener((MessageListener) message -> {
            if (verb.equals("reject"))
                left.countDown();
            if (!verb.equals("work"))
                throw new IllegalStateException("no price for " + message.getMessageProperties().getMessageId());
            var properties = message.getMessageProperties();
            System.out.println("done " + properties.getReceivedExchange() + " " + properties.getReceivedRoutingKey() + " "
                + properties.getMessageId() + " " + Base64.getEncoder().encodeToString(message.getBody())
                + " " + properties.getHeaders().keySet());
            left.countDown();
        });
        if (verb.equals("republish"))
            container.setAdviceChain(RetryInterceptorBuilder.stateless().maxAttempts(2).backOffOptions(1, 1, 1)
                .recoverer(new RepublishMessageRecoverer(new RabbitTemplate(connections), "", queue + ".dlq") {
                    @Override
                    public void recover(Message message, Throwable cause) {
                        super.recover(message, cause);
                        left.countDown();
                    }
                }).build());
        container.afterPropertiesSet();
        container.start();
        left.await();
        container.stop();
        connections.destroy();
        System.exit(0);
    }
}
