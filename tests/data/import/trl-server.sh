# The server has the last four GPUs of the node, the trainer the others.
CUDA_VISIBLE_DEVICES=4,5,6,7 trl vllm-serve --model Qwen/Qwen3-0.6B --tensor_parallel_size 2 --data_parallel_size 2 &

CUDA_VISIBLE_DEVICES=0,1,2,3 accelerate launch --config_file trl-zero3.yaml --num_processes 4 grpo.py \
    --model_name_or_path Qwen/Qwen3-0.6B \
    --dataset_name HuggingFaceH4/OpenR1-Math-220k-default-verified \
    --beta 0.0 \
    --max_completion_length 4096 \
    --num_generations 16 \
    --generation_batch_size 256 \
    --gradient_accumulation_steps 8 \
    --per_device_train_batch_size 4 \
    --no_gradient_checkpointing \
    --use_vllm \
    --vllm_mode server
